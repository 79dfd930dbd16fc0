import { generate } from "lean-qr";
import { toSvgPath } from "lean-qr/extras/svg";
import { useMemo } from "preact/hooks";

import type { WallEvent } from "../../data/events.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { Foreign } from "../../ui/text.tsx";

/** Links and QR codes that lead guests to the event. In print, only these are on the page. */
export function WayIn({ event: { name, uploadUrl, galleryUrl } }: { readonly event: WallEvent }) {
  const ways = ([["Upload photos", uploadUrl], ["View photos", galleryUrl]] as const).filter(([, url]) => url);
  if (!ways.length) return null;
  return (
    <section class="card way-in" aria-labelledby="way-in">
      <div class="head">
        <h2 id="way-in">For guests<span class="on-paper">: <bdi>{name}</bdi></span></h2>
        <button type="button" onClick={() => print()}>Print</button>
      </div>
      <div class="two">
        {ways.map(([words, url]) => (
          <figure key={url}>
            <Code url={url} words={words} />
            <figcaption class="stack-tight">
              <strong>{words}</strong>
              <a href={url} target="_blank" rel="noopener noreferrer"><Foreign>{url}</Foreign></a>
              <CopyButton label="Copy link" text={() => url} />
            </figcaption>
          </figure>
        ))}
      </div>
    </section>
  );
}

// Readers want four modules of white around it.
const QUIET = 4;

function Code({ url, words }: { readonly url: string; readonly words: string }) {
  const code = useMemo(() => generate(url), [url]);
  const size = code.size + 2 * QUIET;
  return (
    <svg class="code" role="img" aria-label={`QR code: ${words}`} viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`} shape-rendering="crispEdges">
      <path d={toSvgPath(code)} />
    </svg>
  );
}
