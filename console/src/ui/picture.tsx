import { useState } from "preact/hooks";

import { withPictures } from "../data/site.ts";
import { mayShow } from "../domain/hosts.ts";

// Which hosts the page may load pictures from; the build writes them into the page and its policy.
const HOSTS = document.querySelector<HTMLMetaElement>('meta[name="photo-hosts"]')?.content.split(" ") ?? [];

interface Props {
  readonly url: string;
  readonly alt: string;
}

/** A guest's picture; in words where it is on a host that is not trusted, or does not load. */
export function Picture({ url, alt }: Props) {
  const [hasFailed, setFailed] = useState(false);
  if (!mayShow(url, HOSTS)) return <span class="no-picture">Not shown: the operator allows no pictures of this host (PHOTO_HOSTS)</span>;
  if (hasFailed) return <span class="no-picture">The picture does not load</span>;
  return <img src={withPictures(url)} alt={alt} loading="lazy" decoding="async" onError={() => setFailed(true)} />;
}
