import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type List, type Part, type Watch, first } from "../data/listen.ts";
import { wordsOf } from "./errors.ts";
import { Notice, Skeleton, Unknown } from "./notice.tsx";

/** The known state of data that the server reports. */
export interface Live<Value> {
  /** Undefined until it is known; null if the server has no such thing. */
  readonly value: Value | null | undefined;
  /** Why it is not known. */
  readonly error: unknown;
  /** Counts the reports of the server. */
  readonly news: number;
}

const UNKNOWN = { value: undefined, error: null, news: 0 };

/**
 * Returns the value that a listener reports while the component is mounted. The last value stays while `again` changes,
 * which is the length of a list, or a reason to listen again.
 */
export function useLive<Value>(watch: () => Watch<Value | null>, inputs: readonly unknown[], again: unknown = null): Live<Value> {
  const [live, setLive] = useState<Live<Value>>(UNKNOWN);
  const stop = useRef<(() => void) | null>(null);
  // Reports about something else are ignored.
  const subject = useRef(0);
  useEffect(() => {
    setLive(UNKNOWN);
    return () => {
      subject.current += 1;
      stop.current?.();
      stop.current = null;
    };
  }, inputs);
  useEffect(() => {
    const mine = subject.current;
    // The earlier listener continues until the new one has an answer, and also if the new one is refused.
    let before = stop.current;
    const end = watch()(
      (value) => {
        before?.();
        before = null;
        if (mine === subject.current) setLive(({ news }) => ({ value, error: null, news: news + 1 }));
      },
      (error) => mine === subject.current && setLive((known) => ({ ...known, error })),
    );
    stop.current = () => {
      end();
      before?.();
    };
  }, [...inputs, again]);
  return live;
}

/** So many items of a list are shown at once: the rules allow 500, and one more shows whether the list goes on. */
export const LONGEST = 480;

/** A list, as much of it as was asked for. */
export interface LiveList<Item> extends Live<List<Item>> {
  /** Asks for another page; behind `LONGEST` items the next page takes their place. */
  readonly more: () => void;
  readonly isFromBeginning: boolean;
  /** Names the shown part; changes when other items replace it. */
  readonly part: string;
  readonly toBeginning: () => void;
}

/** The first page of a list, and further ones. */
export function useList<Item>(watch: (part: Part) => Watch<List<Item>>, page: number, inputs: readonly unknown[]): LiveList<Item> {
  const [{ most, after }, setPart] = useState(first(page));
  const toBeginning = () => setPart(first(page));
  useEffect(toBeginning, inputs);
  const live = useLive<List<Item>>(() => watch({ most, after }), [...inputs, after], most);
  return useMemo(() => ({
    ...live,
    more: () => setPart(most + page <= LONGEST ? { most: most + page, after } : { most: page, after: live.value?.end ?? after }),
    isFromBeginning: after === null,
    part: after?.id ?? "",
    toBeginning,
  }), [live, most, after]);
}

// News may come many times a second.
const ASK_AGAIN_MS = 3000;

/**
 * The value that is requested when the view opens, when `inputs` change, after `news`, and when the network is back.
 * Null `news` is not known yet, and the first that is known says nothing new.
 */
export function useAsked<Value>(ask: () => Promise<Value>, inputs: readonly unknown[], news: string | null = ""): Live<Value> {
  const askedAt = useRef(0);
  const timer = useRef(0);
  const firstNews = useRef<string | null>(null);
  firstNews.current ??= news;
  useEffect(() => void (askedAt.current = -ASK_AGAIN_MS), inputs);
  return useLive<Value>(() => (tell, fail) => {
    const go = () => {
      askedAt.current = performance.now();
      ask().then(tell, fail);
    };
    clearTimeout(timer.current);
    const mine = (timer.current = window.setTimeout(go, askedAt.current + ASK_AGAIN_MS - performance.now()));
    addEventListener("online", go);
    return () => {
      clearTimeout(mine);
      removeEventListener("online", go);
    };
  }, inputs, news === firstNews.current ? null : news);
}

interface ShownProps<Value> {
  readonly live: Live<Value>;
  readonly rows?: number;
  readonly label?: string;
  readonly missing?: ComponentChildren;
  /** Whether an unknown value is shown as a dash. */
  readonly isFigure?: boolean;
  readonly children: (value: Value) => ComponentChildren;
}

/** The known value; before that its place; and why it is not known, or not. */
export function Shown<Value>({ live: { value, error }, rows = 1, label = "Loading…", missing = null, isFigure = false, children }: ShownProps<Value>) {
  if (value === undefined && !error) return <Skeleton rows={rows} label={label} isFigure={isFigure} />;
  if (isFigure && value === undefined) return <Unknown words={wordsOf(error)} />;
  return (
    <>
      {Boolean(error) && !isFigure && <Notice kind="error">{wordsOf(error)}</Notice>}
      {value === null ? missing : value !== undefined && children(value)}
    </>
  );
}

interface ListProps<Item> extends Pick<ShownProps<unknown>, "rows" | "label"> {
  readonly list: LiveList<Item>;
  /** The label of the button that loads another page. */
  readonly more?: string;
  readonly children: (list: List<Item>) => ComponentChildren;
}

/** The items of a list, and the way to more. */
export function ShownList<Item>({ list, more = "Show more", children, ...place }: ListProps<Item>) {
  return (
    <Shown live={list} {...place}>
      {(known) => <>{children(known)}<More list={list} words={more} /></>}
    </Shown>
  );
}

/** Buttons to the next items, and back to the first. */
export function More<Item>({ list: { value, more, isFromBeginning, toBeginning }, words = "Show more" }: { readonly list: LiveList<Item>; readonly words?: string }) {
  if (isFromBeginning && !value?.hasMore) return null;
  return (
    <div class="actions middle-row">
      {!isFromBeginning && <button type="button" onClick={toBeginning}>Back to the beginning</button>}
      {value?.hasMore && <button type="button" onClick={more}>{words}</button>}
    </div>
  );
}
