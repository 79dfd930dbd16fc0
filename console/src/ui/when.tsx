// Times in the reader's zone; the exact one in UTC shows on hover.

import { useEffect, useState } from "preact/hooks";

import { countdown, longTime, relative, shortTime, utcTime } from "../domain/time.ts";

interface Props {
  readonly at: Date;
}

export function When({ at, long = false }: Props & { readonly long?: boolean }) {
  return (
    <time dateTime={at.toISOString()} title={utcTime(at)}>
      {long ? longTime(at) : shortTime(at, new Date())}
    </time>
  );
}

/** `3 min ago`, updated; never in the future, even if the reader's clock is slow. */
export function Ago({ at }: Props) {
  const now = useNow(10_000);
  return (
    <time dateTime={at.toISOString()} title={`${longTime(at)} · ${utcTime(at)}`}>
      {relative(at > now ? now : at, now)}
    </time>
  );
}

/** `in 4 s`, counting down. Not announced: a screen reader would speak every second. */
export function Countdown({ to }: { readonly to: Date }) {
  const now = useNow(1000);
  return (
    <time class="countdown" dateTime={to.toISOString()} title={utcTime(to)}>
      {countdown(to, now)}
    </time>
  );
}

/** The time, again and again. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
