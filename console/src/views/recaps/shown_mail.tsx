import { useState } from "preact/hooks";

import type { Preview } from "../../data/calls.ts";
import { languageName } from "../../domain/event.ts";
import { DESK, PHONE, type Screen } from "../../domain/media.ts";
import { languageOf } from "../../domain/recap.ts";
import { Mail } from "../../ui/mail.tsx";

/** The mail of one guest, as it looks in a mail program; nothing where there is no guest to show it of. */
export function ShownMail({ mail: { from, replyTo, subject, html, text } }: { readonly mail: Preview }) {
  const [isText, setText] = useState(false);
  const [width, setWidth] = useState(DESK);
  const [scheme, setScheme] = useState<Screen["scheme"]>("light");
  if (!html) return <p class="quiet-text">There is no guest to show a mail of: no approved photo has an address.</p>;
  const language = languageOf(html);
  return (
    <>
      <dl class="facts">
        <div><dt>From</dt><dd><bdi>{from}</bdi></dd></div>
        <div><dt>Answers go to</dt><dd><bdi>{replyTo}</bdi></dd></div>
        <div><dt>Language</dt><dd><bdi lang={language}>{languageName(language)}</bdi></dd></div>
        <div><dt>Subject</dt><dd><strong><bdi>{subject}</bdi></strong></dd></div>
      </dl>
      <div class="actions">
        <Choice label="Show the mail" chosen={isText} onChoose={setText} options={[["Mail", false], ["Plain text", true]]} />
        {!isText && (
          <>
            <Choice label="Width" chosen={width} onChoose={setWidth} options={[["Desk", DESK], ["Phone", PHONE]]} />
            <Choice label="Colours" chosen={scheme} onChoose={setScheme} options={[["Light", "light"], ["Dark", "dark"]]} />
          </>
        )}
      </div>
      <div lang={language}>
        {isText
          ? <pre class="mail-text" dir="auto" tabIndex={0} aria-label="The mail as plain text">{text}</pre>
          : <Mail html={html} screen={{ width, scheme }} />}
      </div>
      <p class="quiet-text">The mail of one guest. Links lead nowhere here.</p>
    </>
  );
}

interface ChoiceProps<Value> {
  readonly label: string;
  readonly chosen: Value;
  readonly options: readonly (readonly [string, Value])[];
  readonly onChoose: (value: Value) => void;
}

function Choice<Value extends string | number | boolean>({ label, chosen, options, onChoose }: ChoiceProps<Value>) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([words, value]) => (
        <button key={words} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>{words}</button>
      ))}
    </div>
  );
}
