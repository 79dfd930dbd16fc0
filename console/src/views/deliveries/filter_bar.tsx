import { useEffect, useState } from "preact/hooks";

import type { Endpoint } from "../../data/endpoints.ts";
import { OUTCOMES, type Outcome } from "../../domain/delivery.ts";
import { callName, nameOf } from "../../domain/endpoint.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import { type Filters, NO_FILTERS, type Period, isFiltered } from "../../domain/filters.ts";
import { fromInput, toInput } from "../../domain/time.ts";
import { OUTCOME_WORDS } from "../../domain/words.ts";

interface Props {
  readonly filters: Filters;
  readonly endpoints: readonly Endpoint[];
  readonly onChange: (filters: Filters) => void;
  readonly onOpen: (deliveryId: string) => void;
}

/** What the list is limited to. */
export function FilterBar({ filters, endpoints, onChange, onOpen }: Props) {
  const set = (change: Partial<Filters>) => onChange({ ...filters, ...change });
  const hasTimes = filters.from !== null || filters.until !== null;
  const [isCustom, setCustom] = useState(hasTimes);
  useEffect(() => {
    if (hasTimes) setCustom(true);
  }, [hasTimes]);
  const [isOpen, setOpen] = useState(false);
  const used = Object.values({ ...filters, from: null, until: filters.from ?? filters.until }).filter(Boolean).length;
  const isEndpointListed = endpoints.some(({ url }) => nameOf(url) === filters.endpoint);

  return (
    <form
      class={`filters${isOpen ? " open" : ""}`}
      role="search"
      aria-label="Deliveries"
      onSubmit={(event) => event.preventDefault()}
    >
      {/* On a phone the list comes first. */}
      <button type="button" class="filter-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{used > 0 && ` (${used})`}
      </button>
      <Field label="Outcome" id="filter-outcome">
        <select
          id="filter-outcome"
          value={filters.outcome ?? ""}
          onChange={(event) => set({ outcome: (event.currentTarget.value || null) as Outcome | null })}
        >
          <option value="">Any</option>
          {OUTCOMES.map((one) => <option key={one} value={one}>{OUTCOME_WORDS[one]}</option>)}
        </select>
      </Field>
      <Field label="What happened" id="filter-type">
        <select
          id="filter-type"
          value={filters.event ?? ""}
          onChange={(event) => set({ event: (event.currentTarget.value || null) as EventType | null })}
        >
          <option value="">Any</option>
          {EVENT_TYPES.map((type) => <option key={type} value={type}>{EVENT_WORDS[type]} ({type})</option>)}
        </select>
      </Field>
      <Field label="Receiver" id="filter-url">
        <select
          id="filter-url"
          value={filters.endpoint ?? ""}
          onChange={(event) => set({ endpoint: event.currentTarget.value || null })}
        >
          <option value="">Any</option>
          {endpoints.map((one) => <option key={one.url} value={nameOf(one.url)}>{callName(one)}</option>)}
          {filters.endpoint && !isEndpointListed && <option value={filters.endpoint}>Another one</option>}
        </select>
      </Field>
      <Field label="Time" id="filter-time">
        <select
          id="filter-time"
          value={isCustom ? "custom" : (filters.period ?? "")}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setCustom(chosen === "custom");
            if (chosen !== "custom") set({ period: (chosen || null) as Period | null, from: null, until: null });
          }}
        >
          <option value="">Any</option>
          <option value="1h">Last hour</option>
          <option value="24h">Last 24 hours</option>
          <option value="7d">Last 7 days</option>
          <option value="custom">From … until …</option>
        </select>
      </Field>
      {isCustom && (
        <>
          <Moment label="From" value={filters.from} onChange={(from) => set({ from, period: null })} />
          <Moment label="Until" value={filters.until} onChange={(until) => set({ until, period: null })} />
        </>
      )}
      <DeliveryIdField onOpen={onOpen} />
      {isFiltered(filters) && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            setCustom(false);
            onChange(NO_FILTERS);
          }}
        >
          Clear filters
        </button>
      )}
    </form>
  );
}

function DeliveryIdField({ onOpen }: Pick<Props, "onOpen">) {
  const [id, setId] = useState("");
  const open = () => {
    const wanted = id.trim();
    if (!wanted || wanted.includes("/")) return;
    setId("");
    onOpen(wanted);
  };
  return (
    <Field label="Delivery id" id="filter-id">
      <input
        id="filter-id"
        type="search"
        value={id}
        placeholder="Paste and press Enter"
        spellcheck={false}
        autoComplete="off"
        enterKeyHint="go"
        onInput={(event) => setId(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") open();
        }}
      />
    </Field>
  );
}

interface MomentProps {
  readonly label: string;
  readonly value: Date | null;
  readonly onChange: (value: Date | null) => void;
}

function Moment({ label, value, onChange }: MomentProps) {
  const id = `filter-${label.toLowerCase()}`;
  return (
    <Field label={label} id={id}>
      <input
        id={id}
        type="datetime-local"
        value={value ? toInput(value) : ""}
        onChange={(event) => onChange(fromInput(event.currentTarget.value))}
      />
    </Field>
  );
}

function Field({ label, id, children }: { readonly label: string; readonly id: string; readonly children: preact.ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
    </div>
  );
}
