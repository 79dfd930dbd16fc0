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

/** What an admin says of an event, a new one's id among it. */
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
  const nameProblem = name.trim() ? null : "Give the event a name.";
  const idProblem = before || isEventId(id) ? null : "1 to 128 letters, digits, hyphens and underscores.";
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
    <Ask title={title} action={before ? "Save" : "Make the event"} run={submit} onClose={onClose}>
      <Field label="Name" value={name} max={NAME_CHARACTERS} focus onChange={setName} problem={isTried ? nameProblem : null} />
      {!before && (
        <Field label="Id" mono value={id} onChange={setGivenId} problem={isTried ? idProblem : null} hint="It stands in links and webhooks, and cannot be changed later." />
      )}
      <Field label="Upload page for guests (may stay empty)" type="url" value={uploadUrl} placeholder="https://" onChange={setUploadUrl} problem={uploadProblem} hint="Shown as a link and a code to print, once the event is published." />
      <Field label="Gallery page (may stay empty)" type="url" value={galleryUrl} placeholder="https://" onChange={setGalleryUrl} problem={urlProblem} hint="Mails to guests link to it." />
      <Field label="Language of mails to guests" value={language} options={languages.map((one) => [one, languageName(one)])} onChange={setLanguage} />
      <Field label="Logo in mails to guests (may stay empty)" type="url" value={logoUrl} placeholder="https://" onChange={setLogoUrl} problem={logoProblem(logoUrl.trim())} hint="A PNG or JPEG; it stands above the heading." />
      <Field label="Colour of the button and links in mails to guests (may stay empty)" value={accentColor} placeholder="#1f5fbf" onChange={setAccentColor} problem={colourProblem(accentColor.trim())} hint="Links stay blue where the colour could not be read." />
      <Field
        label="Answers of guests go to"
        value={replyTo}
        options={[["", "the operator of this service"], ...mailboxes.map((one) => [one, one] as const)]}
        onChange={setReplyTo}
        hint={!staff.isVerified && "Your own address can be chosen once it is verified: sign in by a mailed link once."}
      />
      <Field
        label="Days after archiving until names and addresses of guests are removed (empty: they stay)"
        value={days}
        onChange={setDays}
        problem={daysProblem(days)}
        hint={`1 to ${MAX_DAYS.toLocaleString(LANGUAGE)}. A recap needs the addresses.`}
      />
      <Check isOn={autoApprove} onChange={setAutoApprove}>Show photos at once, without anybody looking at them</Check>
    </Ask>
  );
}
