import { readEndpoints } from "../../data/endpoints.ts";
import { failsAt } from "../../data/health.ts";
import { linkTo } from "../../domain/address.ts";
import { problem } from "../../domain/endpoint.ts";
import { count } from "../../domain/words.ts";
import { Answer, useAsked } from "../../ui/asked.tsx";
import { usePlace } from "../place.ts";
import { Tile } from "./tile.tsx";

/** How many receivers acknowledge their deliveries. */
export function WebhooksTile() {
  const { sdk, eventId } = usePlace();
  const asked = useAsked(async () => {
    const { endpoints } = await readEndpoints(sdk.db, eventId);
    const on = endpoints.filter(({ offSince }) => !offSince);
    const fine = await Promise.all(
      on.map(async ({ url, disabled }) => !disabled && !problem(url) && !(await failsAt(sdk.db, eventId, url))),
    );
    return { all: on.length, off: endpoints.length - on.length, healthy: fine.filter(Boolean).length };
  }, [sdk, eventId]);
  return (
    <Tile title="Webhooks">
      <Answer asked={asked}>
        {({ all, off, healthy }) =>
          all + off === 0 ? (
            <p class="quiet-text">No receiver yet. A receiver is told of each photo, by a signed message.</p>
          ) : (
            <>
              <p class={healthy < all ? "figure failing" : "figure"}>{healthy} of {all}</p>
              <p class="quiet-text">
                {healthy < all
                  ? `${count(all - healthy, "receiver does", "receivers do")} not take what is sent.`
                  : all > 0 && "All receivers take what is sent."}
                {off > 0 && ` ${count(off, "receiver is", "receivers are")} switched off.`}
              </p>
            </>
          )}
      </Answer>
      <p><a href={linkTo("endpoints", eventId)}>Receivers</a></p>
    </Tile>
  );
}
