import { DELIVERIES_PAGE } from "../../data/deliveries.ts";
import { healthOf } from "../../data/health.ts";
import type { Delivery } from "../../domain/delivery.ts";
import { type Endpoint, problem } from "../../domain/endpoint.ts";
import { type Health, rateOf } from "../../domain/health.ts";
import { duration } from "../../domain/time.ts";
import { CrossIcon, OutcomeIcon, TickIcon } from "../../ui/icons.tsx";
import { type Live, type LiveList, Shown, useAsked } from "../../ui/live.tsx";
import { Ago, When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";

/** How a receiver is doing: asked again if a delivery to it has changed on the first page of the list. */
export function useHealth({ id }: Endpoint, list: LiveList<Delivery>): Live<Health> {
  const { sdk, eventId } = usePlace();
  const latest = list.value?.items.slice(0, DELIVERIES_PAGE).filter(({ endpointId }) => endpointId === id);
  const news = latest?.map((one) => `${one.id} ${one.outcome} ${one.round}`).join() ?? null;
  return useAsked(() => healthOf(sdk.db, eventId, id, new Date()), [sdk, eventId, id], news);
}

/** The state of an endpoint, in a word or two. */
export function HealthBadge({ endpoint, live: { value: health } }: { readonly endpoint: Endpoint; readonly live: Live<Health> }) {
  if (endpoint.disabled) return <span class="badge failed"><CrossIcon />Disabled</span>;
  if (endpoint.offSince) return <span class="badge"><OutcomeIcon outcome="skipped" />Off</span>;
  if (problem(endpoint.url)) return <span class="badge failed"><CrossIcon />Invalid URL</span>;
  if (!health) return null;
  if (health.failingSince) return <span class="badge failed"><CrossIcon />Failing since&nbsp;<When at={health.failingSince} /></span>;
  if (!health.lastSuccess) return <span class="badge pending"><OutcomeIcon outcome="pending" />No deliveries yet</span>;
  return <span class="badge success"><TickIcon />Healthy</span>;
}

export function HealthFacts({ live }: { readonly live: Live<Health> }) {
  return (
    <Shown live={live}>
      {(health) => {
        const { delivered, failed, median, slowest, sample, lastSuccess, failingSince } = health;
        return (
          <dl class="figures health">
            <div>
              <dt>Last 24 hours</dt>
              <dd>{delivered + failed ? rateOf(health) : "No deliveries"}</dd>
            </div>
            <div>
              <dt>Response time</dt>
              <dd>
                {median === null || slowest === null ? "–" : <>{duration(median)} <span class="quiet-text">median, slowest {duration(slowest)}, of the last {sample}</span></>}
              </dd>
            </div>
            <div><dt>Last success</dt><dd>{lastSuccess ? <Ago at={lastSuccess} /> : "None yet"}</dd></div>
            {failingSince && <div class="failing"><dt>Failing since</dt><dd><Ago at={failingSince} /></dd></div>}
          </dl>
        );
      }}
    </Shown>
  );
}
