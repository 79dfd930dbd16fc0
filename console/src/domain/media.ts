// Media queries of a mail, answered for a window that is only imagined.

export interface Screen {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export const PHONE = 360;
export const DESK = 720;

/** Whether a media query holds on `screen`; what a mail does not ask for counts as not so. */
export function holds(query: string, screen: Screen): boolean {
  return query.split(",").some((part) =>
    part
      .trim()
      .toLowerCase()
      .replace(/^only\s+/, "")
      .split(/\s+and\s+/)
      .every((feature) => isSo(feature.trim(), screen)),
  );
}

function isSo(feature: string, { width, scheme }: Screen): boolean {
  if (feature === "screen" || feature === "all") return true;
  const [, name, value] = /^\(\s*([a-z-]+)\s*:\s*([a-z0-9.]+)\s*\)$/.exec(feature) ?? [];
  if (name === "max-width") return width <= Number.parseFloat(value ?? "");
  if (name === "min-width") return width >= Number.parseFloat(value ?? "");
  return name === "prefers-color-scheme" && value === scheme;
}
