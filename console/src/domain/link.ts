// Links with a token, as email gateways rewrite them: `#` becomes `%23`, `=` becomes `%3D`, `?` takes the place of `#`.

const TIMES = 3;
const MARKS = /^(?:[#?]|%(?:25)*(?:23|3f))+/i;
const FORWARDED = /^\/([a-z]+)\/?%(?:25)*(?:23|3f)(.+)$/i;

/** Returns the parameters of a fragment or a query, which may be percent-encoded as a whole. */
export function readParameters(part: string): URLSearchParams {
  return new URLSearchParams(decoded(part.replace(MARKS, ""), "="));
}

/**
 * Returns the target of a link whose path contains the fragment in encoded form, or null if the path has no such form.
 *
 * The token stays in the fragment, which a browser does not send.
 */
export function forwardedLink(path: string): string | null {
  const found = FORWARDED.exec(path);
  if (!found) return null;
  const [, page = "", rest = ""] = found;
  const fragment = decoded(rest, "=", "/");
  if (page.toLowerCase() === "unsubscribe") return `/preferences#unsubscribe=${encodeURIComponent(readParameters(fragment).get("token") ?? "")}`;
  return `/${page.toLowerCase()}#${fragment}`;
}

function decoded(text: string, ...until: string[]): string {
  let found = text;
  for (let times = 0; times < TIMES && !until.some((mark) => found.includes(mark)); times++) {
    try {
      found = decodeURIComponent(found);
    } catch {
      break; // A percent sign that encodes nothing.
    }
  }
  return found.replace(MARKS, "");
}
