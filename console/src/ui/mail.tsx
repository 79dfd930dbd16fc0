import { useEffect, useRef, useState } from "preact/hooks";

import { withPictures } from "../data/site.ts";
import { languageName } from "../domain/event.ts";
import { languageOf } from "../domain/recap.ts";
import { Choice } from "./form.tsx";

interface Props {
  readonly mail: { readonly from: string; readonly replyTo: string; readonly subject: string; readonly html: string; readonly text: string };
}

/** The mail of one guest, as it looks in a mail program: in a frame with a policy of its own (`/mail`). */
export function Mail({ mail: { from, replyTo, subject, html, text } }: Props) {
  const [isText, setText] = useState(false);
  const [width, setWidth] = useState("desk");
  const [scheme, setScheme] = useState("light");
  const language = languageOf(html);
  if (!html) return <p class="quiet-text">Nothing to preview yet: no approved photo has an email address.</p>;
  return (
    <>
      <dl class="facts">
        <div><dt>From</dt><dd><bdi>{from}</bdi></dd></div>
        <div><dt>Reply-to</dt><dd><bdi>{replyTo}</bdi></dd></div>
        <div><dt>Language</dt><dd><bdi lang={language}>{languageName(language)}</bdi></dd></div>
        <div><dt>Subject</dt><dd><strong><bdi>{subject}</bdi></strong></dd></div>
      </dl>
      <div class="actions">
        <Choice label="Show the email" chosen={isText} onChoose={setText} options={[["Email", false], ["Plain text", true]]} />
        {!isText && (
          <>
            <Choice label="Width" chosen={width} onChoose={setWidth} options={[["Desktop", "desk"], ["Phone", "phone"]]} />
            <Choice label="Colors" chosen={scheme} onChoose={setScheme} options={[["Light", "light"], ["Dark", "dark"]]} />
          </>
        )}
      </div>
      {isText
        ? <pre dir="auto" lang={language} tabIndex={0} aria-label="The email as plain text">{text}</pre>
        : <Frame html={html} scheme={scheme} width={width} />}
      <p class="quiet-text">The email of one guest. Links are disabled in this preview.</p>
    </>
  );
}

function Frame({ html, scheme, width }: { readonly html: string; readonly scheme: string; readonly width: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [loads, setLoads] = useState(0);
  useEffect(() => {
    // The frame has no origin to name; it gets nothing but the mail.
    if (loads) frame.current?.contentWindow?.postMessage({ html: withPictures(html), scheme }, "*");
  }, [html, scheme, loads]);
  return <iframe ref={frame} class={`mail ${width}`} title="The email" src="/mail" sandbox="allow-scripts" onLoad={() => setLoads(loads + 1)} />;
}
