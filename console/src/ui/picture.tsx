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

/** A guest's picture, or words if its host isn't allowed or it does not load. */
export function Picture({ url, alt, onLoad }: Props) {
  const [hasFailed, setFailed] = useState(false);
  if (/^http:/i.test(url)) return <span class="no-picture">Can't show this image: its link isn't secure (http://). It won't appear in recaps.</span>;
  if (!mayShow(url, HOSTS)) return <span class="no-picture">Image blocked: its host isn't on the allowed list.</span>;
  if (hasFailed) return <span class="no-picture">Couldn't load this image</span>;
  return <img src={withPictures(url)} alt={alt} loading="lazy" decoding="async" onLoad={() => onLoad?.()} onError={() => setFailed(true)} />;
}
