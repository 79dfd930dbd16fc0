import { useState } from "preact/hooks";

import { hearFrom } from "../../data/listen.ts";
import { type Place, linkTo } from "../../domain/address.ts";
import type { Delivery } from "../../domain/delivery.ts";
import { type Filters, NO_FILTERS, type Period, isFiltered } from "../../domain/filters.ts";
import { DAY_MS } from "../../domain/health.ts";
import { fromInput, toInput } from "../../domain/time.ts";
import { count } from "../../domain/words.ts";
import { Field } from "../../ui/form.tsx";
import { type LiveList, ShownList } from "../../ui/live.tsx";
import { Connection } from "../../ui/news.tsx";
import { Empty } from "../../ui/notice.tsx";
import { replace } from "../../ui/route.ts";
import { usePlace } from "../place.ts";
import { ResendDialog } from "./dialogs.tsx";
import { DeliveryRows, KindFields } from "./list.tsx";

interface Props {
  readonly place: Place;
  readonly list: LiveList<Delivery>;
  /** The labels of the endpoints, by their IDs. */
  readonly labels: ReadonlyMap<string, string>;
}

/** The deliveries that fit, live, as many as are asked for: of one receiver, or of all. */
export function Deliveries({ place, list, labels }: Props) {
  const { sdk, eventId } = usePlace();
  const { filters, endpointId } = place;
  const [asked, setAsked] = useState<readonly Delivery[] | null>(null);
  const change = (changed: Filters) => replace({ ...place, filters: changed });
  const shown = list.value?.items ?? [];
  const failed = filters.outcome === "failed" ? shown.filter(({ test }) => !test) : [];
  return (
    <section class="column list" aria-labelledby="deliveries">
      <div class="head">
        <h2 id="deliveries">{endpointId ? "Deliveries" : "All deliveries"}</h2>
        {list.news > 0 && <Connection news={list} ask={() => hearFrom(sdk.db, eventId, "deliveries")} />}
      </div>
      <FilterBar filters={filters} onChange={change} onOpen={(deliveryId) => void (location.hash = linkTo("receivers", eventId, { deliveryId }))} />
      <ShownList list={list} rows={8} label="Loading deliveries…" more="Show older">
        {({ items }) => (
          <>
            {failed.length > 0 && (
              <div class="actions">
                <button type="button" onClick={() => setAsked(failed)}>Resend {failed.length === 1 ? "this delivery" : `these ${count(failed.length, "delivery", "deliveries")}`}…</button>
              </div>
            )}
            {items.length === 0 ? (
              <Nothing isFiltered={isFiltered(filters)} onClear={() => change(NO_FILTERS)} />
            ) : (
              <DeliveryRows
                deliveries={items}
                labels={labels}
                isOneUrl={endpointId !== null}
                linkOf={(delivery) => linkTo("receivers", eventId, { deliveryId: delivery.id, endpointId, filters })}
              />
            )}
          </>
        )}
      </ShownList>
      {asked && <ResendDialog deliveries={asked} labels={labels} onClose={() => setAsked(null)} />}
    </section>
  );
}

function Nothing({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  if (!isFiltered) return <Empty title="No deliveries yet"><p>Deliveries appear here as events happen. To try it out, send a test.</p></Empty>;
  return (
    <Empty title="No matching deliveries">
      <p>No deliveries match these filters. Deliveries are kept for 30 days.</p>
      <button type="button" onClick={onClear}>Clear filters</button>
    </Empty>
  );
}

const PERIOD_WORDS = [["", "Any"], ["1h", "Last hour"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["custom", "Custom range"]] as const;

interface BarProps {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
  readonly onOpen: (deliveryId: string) => void;
}

/** The filters of the list. */
function FilterBar({ filters, onChange, onOpen }: BarProps) {
  const set = (change: Partial<Filters>) => onChange({ ...filters, ...change });
  const isCustom = filters.from !== null || filters.until !== null;
  const [isOpen, setOpen] = useState(false);
  const [id, setId] = useState("");
  const used = Object.values({ ...filters, from: null, until: filters.from ?? filters.until }).filter(Boolean).length;
  const moment = (label: string, name: "from" | "until") => (
    <Field label={label} type="datetime-local" value={filters[name] ? toInput(filters[name]) : ""} onChange={(value) => set({ [name]: fromInput(value), period: null })} />
  );
  return (
    <form class={`filters${isOpen ? " open" : ""}`} role="search" aria-label="Deliveries" onSubmit={(event) => event.preventDefault()}>
      {/* On a phone the list comes first. */}
      <button type="button" class="filter-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{used > 0 && ` (${used})`}
      </button>
      <KindFields filters={filters} onChange={set} />
      <Field
        label="Time"
        value={isCustom ? "custom" : (filters.period ?? "")}
        options={PERIOD_WORDS}
        onChange={(chosen) =>
          set(chosen === "custom" ? { period: null, from: new Date(Date.now() - DAY_MS) } : { period: (chosen || null) as Period | null, from: null, until: null })
        }
      />
      {isCustom && <>{moment("From", "from")}{moment("Until", "until")}</>}
      <Field
        label="Delivery ID"
        type="search"
        value={id}
        placeholder="Paste an ID and press Enter"
        onChange={setId}
        onEnter={() => {
          const wanted = id.trim();
          if (!wanted || wanted.includes("/")) return;
          setId("");
          onOpen(wanted);
        }}
      />
      {isFiltered(filters) && <button type="button" class="quiet" onClick={() => onChange(NO_FILTERS)}>Clear filters</button>}
    </form>
  );
}
