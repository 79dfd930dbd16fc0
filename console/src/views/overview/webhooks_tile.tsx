import { readEndpoints } from "../../data/endpoints.ts";
import { failsAt } from "../../data/health.ts";
import { linkTo } from "../../domain/address.ts";
import { problem } from "../../domain/endpoint.ts";
import { count } from "../../domain/words.ts";
import { Answer, useAsked } from "../../ui/asked.tsx";
import { usePlace } from "../place.ts";
import { Tile } from "./tile.tsx";

/** How many receivers take what is sent to them. */
export function WebhooksTile() {
  const { sdk, eventId } = usePlace();
  const asked = useAsked(async () => {
    const { endpoints } = await readEndpoints(sdk.db, eventId);
    const fine = await Promise.all(
      endpoints.map(async ({ url, disabled }) => !disabled && !problem(url) && !(await failsAt(sdk.db, eventId, url))),
    );
    return { all: endpoints.length, healthy: fine.filter(Boolean).length };
  }, [sdk, eventId]);
  return (
    <Tile title="Webhooks">
      <Answer asked={asked}>
        {({ all, healthy }) =>
          all === 0 ? (
            <p class="quiet-text">No receiver yet. A receiver is told of each photo, by a signed message.</p>
          ) : (
            <>
              <p class={healthy < all ? "figure failing" : "figure"}>{healthy} of {all}</p>
              <p class="quiet-text">
                {healthy < all
                  ? `${count(all - healthy, "receiver does", "receivers do")} not take what is sent.`
                  : "All receivers take what is sent."}
              </p>
            </>
          )}
      </Answer>
      <p><a href={linkTo("endpoints", eventId)}>Receivers</a></p>
    </Tile>
  );
}
