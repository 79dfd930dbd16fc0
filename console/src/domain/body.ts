// A body for reading.

/** Longer ones are not laid out at once: a browser takes seconds for a megabyte in one line. */
export const SHOWN_CHARACTERS = 20_000;

/** With line breaks and indentation; null if it is no JSON. */
export function pretty(body: string): string | null {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return null;
  }
}

/** How large it is on the wire. */
export function size(body: string): string {
  const bytes = new TextEncoder().encode(body).length;
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * Characters that are not seen, or that turn the direction of a text, made visible: in a body to
 * look at, one must not be led astray by them.
 */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
