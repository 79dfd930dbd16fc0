import { useState } from "preact/hooks";

import { withPictures } from "../data/site.ts";
import { mayShow } from "../domain/hosts.ts";

// Which hosts the page may load pictures from; the build writes them into the page and its policy.
const HOSTS = document.querySelector<HTMLMetaElement>('meta[name="photo-hosts"]')?.content.split(" ") ?? [];

interface Props {
  readonly url: string;
  readonly alt: string;
  readonly onLoad?: () => void;
}

/** A guest's picture; in words where it is on a host that is not trusted, or does not load. */
export function Picture({ url, alt, onLoad }: Props) {
  const [hasFailed, setFailed] = useState(false);
  if (/^http:/i.test(url)) return <span class="no-picture">Not shown, and in no recap: its address begins with http://, not https://</span>;
  if (!mayShow(url, HOSTS)) return <span class="no-picture">Not shown: the operator allows no pictures of this host (PHOTO_HOSTS)</span>;
  if (hasFailed) return <span class="no-picture">The picture does not load</span>;
  return <img src={withPictures(url)} alt={alt} loading="lazy" decoding="async" onLoad={() => onLoad?.()} onError={() => setFailed(true)} />;
}
