import { parts } from "../domain/endpoint.ts";

/** Text of people: it cannot turn the direction of the text around it. */
export function Foreign({ children }: { children: string }) {
  return <bdi class="foreign">{children}</bdi>;
}

/** The label of a URL, or its host and path; all of it is in the title. */
export function Url({ url, label = "", full = false }: { url: string; label?: string; full?: boolean }) {
  const { host, path } = parts(url);
  if (full) return <bdi class="foreign url">{url || "(empty)"}</bdi>;
  return (
    <bdi class="foreign url" title={url}>
      <span class="host">{label || host}</span>
      <span class="path">{!label && path}</span>
    </bdi>
  );
}
