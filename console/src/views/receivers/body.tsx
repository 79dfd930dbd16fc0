import { useMemo, useState } from "preact/hooks";

import { SHOWN_CHARACTERS, pretty, size, visible } from "../../domain/body.ts";
import { LANGUAGE } from "../../domain/time.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { Choice } from "../../ui/form.tsx";

/** The body that is sent, for reading or byte for byte. */
export function BodyPanel({ body }: { readonly body: string }) {
  const [isRaw, setRaw] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const readable = useMemo(() => pretty(body), [body]);
  const text = useMemo(() => visible(isRaw || readable === null ? body : readable), [body, isRaw, readable]);
  const isLong = text.length > SHOWN_CHARACTERS;
  return (
    <section class="card" aria-labelledby="body">
      <div class="head">
        <h2 id="body">Body</h2>
        <span class="quiet-text">{size(body)}</span>
        <Choice label="Show the body" chosen={isRaw} onChoose={setRaw} options={[["Pretty", false], ["Raw", true]]} />
        <CopyButton label="Copy" text={() => body} />
      </div>
      {/* Scrolls on its own, so it must be reachable by keyboard. */}
      <pre tabIndex={0} dir="ltr" aria-label="Body">
        {isLong && !isWhole ? text.slice(0, SHOWN_CHARACTERS) : text}
      </pre>
      {isLong && !isWhole && (
        <p class="quiet-text">
          The first {SHOWN_CHARACTERS.toLocaleString(LANGUAGE)} of {text.length.toLocaleString(LANGUAGE)} characters.{" "}
          <button type="button" class="quiet" onClick={() => setWhole(true)}>Show all</button>
        </p>
      )}
    </section>
  );
}
