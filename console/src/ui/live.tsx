import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { List, Watch } from "../data/listen.ts";
import { wordsOf } from "./errors.ts";
import { Notice, Skeleton } from "./notice.tsx";

/** What is known of something that the server tells. */
export interface Live<Value> {
  /** Undefined until it is known; null where the server has no such thing. */
  readonly value: Value | null | undefined;
  /** Why it is not known (any more). */
  readonly error: unknown;
  /** Counts the reports of the server. */
  readonly news: number;
}

const UNKNOWN = { value: undefined, error: null, news: 0 };

/**
 * What a listener tells, from the moment on at which the component is there. What was known of the
 * same thing stays while `most`, the length of a list, grows.
 */
export function useLive<Value>(watch: () => Watch<Value | null>, inputs: readonly unknown[], most = 0): Live<Value> {
  const [live, setLive] = useState<Live<Value>>(UNKNOWN);
  const stop = useRef<(() => void) | null>(null);
  const start = () => {
    let isWanted = true;
    const end = watch()(
      (value) => isWanted && setLive(({ news }) => ({ value, error: null, news: news + 1 })),
      (error) => isWanted && setLive(({ news }) => ({ value: undefined, error, news })),
    );
    return () => {
      isWanted = false;
      end();
    };
  };
  useEffect(() => {
    setLive(UNKNOWN);
    return () => {
      stop.current?.();
      stop.current = null;
    };
  }, inputs);
  useEffect(() => {
    // The longer list is begun before the shorter one ends, so that the SDK keeps what it has.
    const before = stop.current;
    stop.current = start();
    before?.();
  }, [...inputs, most]);
  return live;
}

/** A list, as much of it as was asked for. */
export interface LiveList<Item> extends Live<List<Item>> {
  /** Asks for another page. */
  readonly more: () => void;
}

/** The first page of a list, and further ones. */
export function useList<Item>(watch: (most: number) => Watch<List<Item>>, page: number, inputs: readonly unknown[]): LiveList<Item> {
  const [most, setMost] = useState(page);
  useEffect(() => setMost(page), inputs);
  const live = useLive<List<Item>>(() => watch(most), inputs, most);
  return useMemo(() => ({ ...live, more: () => setMost(most + page) }), [live, most]);
}

// News may come many times a second.
const ASK_AGAIN_MS = 3000;

/** What is asked for when the view is opened, when `inputs` change, after `news`, and when the network is back. */
export function useAsked<Value>(ask: () => Promise<Value>, inputs: readonly unknown[], news: unknown = null): Live<Value> {
  const [live, setLive] = useState<Live<Value>>(UNKNOWN);
  const [round, setRound] = useState(0);
  const askedAt = useRef(-ASK_AGAIN_MS);
  // An answer about something else is not wanted any more.
  const subject = useRef(0);
  useEffect(() => {
    askedAt.current = -ASK_AGAIN_MS;
    setLive(UNKNOWN);
    return () => void (subject.current += 1);
  }, inputs);
  useEffect(() => {
    const timer = setTimeout(() => {
      askedAt.current = performance.now();
      const mine = subject.current;
      ask().then(
        (value) => mine === subject.current && setLive(({ news }) => ({ value, error: null, news: news + 1 })),
        (error: unknown) => mine === subject.current && setLive((before) => ({ ...before, error })),
      );
    }, askedAt.current + ASK_AGAIN_MS - performance.now());
    return () => clearTimeout(timer);
  }, [...inputs, news, round]);
  useEffect(() => {
    if (!live.error) return;
    const again = () => setRound(round + 1);
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [live.error]);
  return live;
}

interface ShownProps<Value> {
  readonly live: Live<Value>;
  readonly rows?: number;
  readonly label?: string;
  readonly missing?: ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}

/** What is known, once it is; before that its place, or why it cannot be shown. */
export function Shown<Value>({ live: { value, error }, rows = 1, label = "Loading…", missing = null, children }: ShownProps<Value>) {
  if (value === undefined && error) return <Notice kind="error">{wordsOf(error)}</Notice>;
  if (value === undefined) return <Skeleton rows={rows} label={label} />;
  return <>{value === null ? missing : children(value)}</>;
}

interface ListProps<Item> extends Pick<ShownProps<unknown>, "rows" | "label"> {
  readonly list: LiveList<Item>;
  /** What the button says that asks for another page. */
  readonly more?: string;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

/** The items of a list, and the way to more. */
export function ShownList<Item>({ list, more = "Show more", children, ...place }: ListProps<Item>) {
  return (
    <Shown live={list} {...place}>
      {({ items, hasMore }) => (
        <>
          {children(items)}
          {hasMore && <div class="actions middle-row"><button type="button" onClick={list.more}>{more}</button></div>}
        </>
      )}
    </Shown>
  );
}
