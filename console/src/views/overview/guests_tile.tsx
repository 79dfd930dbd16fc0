import { useState } from "preact/hooks";

import type { Preview } from "../../data/calls.ts";
import { count } from "../../domain/words.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { Tile } from "./tile.tsx";

/** Guests whom recaps go to. Counting reads every approved photo, so it is asked for by hand. */
export function GuestsTile() {
  const { calls } = usePlace();
  const [found, setFound] = useState<Preview | null>(null);
  const work = useWork();
  const ask = () => work.run(async () => setFound(await calls.preview({ mode: "personal" }, false)));
  return (
    <Tile title="Guests for a recap">
      {found ? (
        <>
          <p class="figure">{(found.recipients + found.left).toLocaleString()}</p>
          <p class="quiet-text">
            {count(found.recipients, "guest", "guests")} would get a recap now
            {!!found.skipped && <>; {found.skipped.toLocaleString()} would be skipped</>}.
          </p>
        </>
      ) : (
        <>
          <p class="quiet-text">Guests who left an e-mail address with an approved photo. A recap goes to them.</p>
          <div class="actions"><ActionButton busy={work.isBusy} onClick={ask}>Count them</ActionButton></div>
        </>
      )}
      {work.error && <Notice kind="error">{work.error}</Notice>}
    </Tile>
  );
}
