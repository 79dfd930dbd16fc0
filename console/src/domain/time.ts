// Times for people: in the reader's zone, with the exact moment in UTC beside it.

/** Of the pages: their words are English, and so are times and numbers. */
export const LANGUAGE = "en-GB";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `18:30:05` on the same day, `21 Nov, 18:30:05` on others, with the year in other years. */
export function shortTime(moment: Date, now: Date, timeZone?: string): string {
  const day = (one: Date) => one.toLocaleDateString("en-CA", { timeZone });
  if (day(moment) === day(now)) return moment.toLocaleTimeString(LANGUAGE, { timeStyle: "medium", timeZone });
  const sameYear = day(moment).slice(0, 4) === day(now).slice(0, 4);
  return moment.toLocaleString(LANGUAGE, {
    timeZone,
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

/** Day, time and zone, for views with enough room. */
export function longTime(moment: Date): string {
  return moment.toLocaleString(LANGUAGE, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}

/** The reader's zone, such as `Europe/Berlin`. */
export function zone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Ten in the morning of the day after `now`, in the reader's zone. */
export function nextMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 10);
}

/** The exact moment: `2026-05-01 18:30:00.123 UTC`. */
export function utcTime(moment: Date): string {
  return `${moment.toISOString().slice(0, -1).replace("T", " ")} UTC`;
}

/** `14 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < SECOND) return `${ms} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  return span(ms);
}

/** Whole seconds and more: `4 s`, `3 min 5 s`. */
export function span(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return both(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return both(ms, HOUR, "h", MINUTE, "min");
  return both(ms, DAY, "d", HOUR, "h");
}

function both(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest ? `${whole} ${largeName} ${rest} ${smallName}` : `${whole} ${largeName}`;
}

/** `in 4 s`; `now` once it is due. */
export function countdown(due: Date, now: Date): string {
  const left = due.getTime() - now.getTime();
  return left <= 0 ? "now" : `in ${span(Math.ceil(left / SECOND) * SECOND)}`;
}

/** `3 min ago`, `in 2 h`, `just now`. */
export function relative(moment: Date, now: Date): string {
  const away = moment.getTime() - now.getTime();
  if (Math.abs(away) < 5 * SECOND) return "just now";
  const [large] = span(Math.abs(away)).match(/^\d+ \S+/) ?? [""];
  return away < 0 ? `${large} ago` : `in ${large}`;
}

/** Formats a time for an `input` of type `datetime-local`, in the reader's zone, to the minute. */
export function toInput(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${date}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

export function fromInput(text: string): Date | null {
  const found = new Date(text);
  return text && !Number.isNaN(found.getTime()) ? found : null;
}
