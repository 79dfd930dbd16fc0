import { COUNTED, countPhotos } from "../../data/photos.ts";
import { linkToPhotos } from "../../domain/address.ts";
import { STATUSES, STATUS_WORDS } from "../../domain/photo.ts";
import { Answer, useAsked } from "../../ui/asked.tsx";
import { usePlace } from "../place.ts";
import { Tile } from "./tile.tsx";

export function PhotosTile() {
  const { sdk, eventId } = usePlace();
  const asked = useAsked(
    () => Promise.all(STATUSES.map((status) => countPhotos(sdk.db, eventId, status))),
    [sdk, eventId],
  );
  return (
    <Tile title="Photos">
      <Answer asked={asked}>
        {(counts) => (
          <dl class="figures">
            {STATUSES.map((status, place) => (
              <div key={status}>
                <dt><a href={linkToPhotos(eventId, status)}>{STATUS_WORDS[status]}</a></dt>
                <dd>{counted(counts[place] ?? 0)}</dd>
              </div>
            ))}
          </dl>
        )}
      </Answer>
    </Tile>
  );
}

function counted(number: number): string {
  return number < COUNTED ? String(number) : `${COUNTED}+`;
}
