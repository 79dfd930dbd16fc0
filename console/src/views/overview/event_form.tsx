import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { EventFields } from "../../data/events.ts";
import type { Staff } from "../../data/session.ts";
import { ENGLISH, LANGUAGES, MAX_DAYS, colourProblem, daysProblem, isEventId, languageName, linkProblem, logoProblem, suggestedId } from "../../domain/event.ts";
import { LANGUAGE } from "../../domain/time.ts";
import { Ask, Check, Field } from "../../ui/form.tsx";

interface FormProps {
  readonly title: string;
  readonly staff: Staff;
  readonly before: EventFields | null;
  /** Saves; of a new event under the id that was chosen. */
  readonly save: (fields: EventFields, id: string) => Promise<void>;
  readonly onClose: () => void;
}

const NAME_CHARACTERS = 200;

/** The form of an event's fields, with the ID of a new event. */
export function EventForm({ title, staff, before, save, onClose }: FormProps) {
  const [name, setName] = useState(before?.name ?? "");
  const [givenId, setGivenId] = useState<string | null>(null);
  const [galleryUrl, setGalleryUrl] = useState(before?.galleryUrl ?? "");
  const [uploadUrl, setUploadUrl] = useState(before?.uploadUrl ?? "");
  const [language, setLanguage] = useState(before?.language ?? ENGLISH);
  const [replyTo, setReplyTo] = useState(before?.replyTo ?? "");
  const [autoApprove, setAutoApprove] = useState(before?.autoApprove ?? false);
  const [days, setDays] = useState(String(before?.keepGuestDataDays ?? ""));
  const [logoUrl, setLogoUrl] = useState(before?.logoUrl ?? "");
  const [accentColor, setAccentColor] = useState(before?.accentColor ?? "");
  const [isTried, setTried] = useState(false);
  const id = givenId ?? suggestedId(name, new Date());
  const nameProblem = name.trim() ? null : "Enter a name.";
  const idProblem = before || isEventId(id) ? null : "Use up to 128 letters, numbers, hyphens or underscores.";
  const [uploadProblem, urlProblem] = [uploadUrl, galleryUrl].map((url) => linkProblem(url.trim()));
  const lookProblem = logoProblem(logoUrl.trim()) ?? colourProblem(accentColor.trim());
  // The recorded values stay to choose from: another admin may have set them.
  const languages = [...new Set([...LANGUAGES, language])];
  const mailboxes = [...new Set([before?.replyTo ?? "", staff.isVerified ? staff.email : ""])].filter(Boolean);

  async function submit() {
    setTried(true);
    if (nameProblem || idProblem || uploadProblem || urlProblem || lookProblem || daysProblem(days)) return "stay";
    const keepGuestDataDays = days.trim() ? Number(days) : null;
    await save({ name: name.trim(), autoApprove, galleryUrl: galleryUrl.trim(), uploadUrl: uploadUrl.trim(), language, replyTo, keepGuestDataDays, logoUrl: logoUrl.trim(), accentColor: accentColor.trim() }, id);
    return undefined;
  }

  return (
    <Ask title={title} action={before ? "Save" : "Create event"} run={submit} onClose={onClose}>
      <Field label="Name" value={name} max={NAME_CHARACTERS} focus onChange={setName} problem={isTried ? nameProblem : null} />
      {!before && (
        <Field label="ID" mono value={id} onChange={setGivenId} problem={isTried ? idProblem : null} hint="Used in links and webhooks. You can't change it later." />
      )}
      <Settings isOpen={before !== null}>
        <Field label="Guest upload page (optional)" type="url" value={uploadUrl} placeholder="https://" onChange={setUploadUrl} problem={uploadProblem} hint="Once published, guests get this as a link and a printable QR code." />
        <Field label="Gallery page (optional)" type="url" value={galleryUrl} placeholder="https://" onChange={setGalleryUrl} problem={urlProblem} hint="Linked from emails to guests." />
        <Field label="Email language" value={language} options={languages.map((one) => [one, languageName(one)])} onChange={setLanguage} />
        <Field label="Email logo (optional)" type="url" value={logoUrl} placeholder="https://" onChange={setLogoUrl} problem={logoProblem(logoUrl.trim())} hint="Link to a PNG or JPEG, shown at the top of the email." />
        <Color value={accentColor} onChange={setAccentColor} problem={colourProblem(accentColor.trim())} />
        <Field
          label="Reply-to address"
          value={replyTo}
          options={[["", "Default (service administrator)"], ...mailboxes.map((one) => [one, one] as const)]}
          onChange={setReplyTo}
          hint={!staff.isVerified && "To use your own address, verify it first by signing in with an email link."}
        />
        <Field
          label="Delete guests' names and emails after days (optional)"
          value={days}
          onChange={setDays}
          problem={daysProblem(days)}
          hint={`1 to ${MAX_DAYS.toLocaleString(LANGUAGE)} days after archiving. Leave empty to keep them. Recaps can't be sent once they're deleted.`}
        />
        <Check isOn={autoApprove} onChange={setAutoApprove}>Publish photos immediately, without approval</Check>
      </Settings>
    </Ask>
  );
}

/** Everything but the name: folded for a new event, which needs none of it. */
function Settings({ isOpen, children }: { readonly isOpen: boolean; readonly children: ComponentChildren }) {
  if (isOpen) return <>{children}</>;
  return (
    <details>
      <summary>More settings</summary>
      <div class="stack">{children}</div>
    </details>
  );
}

/** A color, as text and in the browser's picker. */
function Color({ value, onChange, problem }: { readonly value: string; readonly onChange: (value: string) => void; readonly problem: string | null }) {
  return (
    <div class="color">
      <Field label="Brand color (optional)" value={value} placeholder={DEFAULT_COLOR} onChange={onChange} problem={problem} hint="Used for the button and links. Links stay blue if this color would be hard to read. In dark mode they get a lighter shade of it." />
      <input type="color" aria-label="Pick a brand color" value={/^#[0-9a-f]{6}$/i.test(value) ? value : DEFAULT_COLOR} onInput={(event) => onChange(event.currentTarget.value)} />
    </div>
  );
}

const DEFAULT_COLOR = "#1f5fbf";
