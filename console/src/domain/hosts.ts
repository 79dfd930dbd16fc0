// The hosts of pictures that a page may load, which are those of recap emails (PHOTO_HOSTS).

/** Whether `url` is on one of `hosts`, each with the beginning of a path; `*` is any. */
export function mayShow(url: string, hosts: readonly string[]): boolean {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return false;
  }
  if (!["https:", "http:"].includes(parsed.protocol) || parsed.username || parsed.password) return false;
  if (hosts.includes("*")) return true;
  if (parsed.protocol !== "https:") return false;
  const place = `${parsed.host}${parsed.pathname}`;
  return hosts.some((host) => place.startsWith(host.includes("/") ? host : `${host}/`));
}

/** The policy's sources for these hosts. */
export function imageSources(hosts: readonly string[]): string {
  return hosts.includes("*") ? "*" : hosts.map((host) => `https://${host}`).join(" ");
}

/** Returns the parameter as a list, with the project's own buckets in place of `project`. */
export function readHosts(parameter: string, project: string): readonly string[] {
  const given = parameter.split(",").map((host) => host.trim()).filter(Boolean);
  if (given.includes("*")) return ["*"];
  return given.flatMap((host) => (host === "project" ? bucketsOf(project) : [host]));
}

// https://firebase.google.com/docs/storage/web/start
function bucketsOf(project: string): string[] {
  return ["firebasestorage.app", "appspot.com"].flatMap((kind) => [
    `firebasestorage.googleapis.com/v0/b/${project}.${kind}/o/`,
    `storage.googleapis.com/${project}.${kind}/`,
  ]);
}
