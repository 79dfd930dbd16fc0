// The page for addresses that don't exist. A link that an email gateway has encoded leads to its page.

import { forwardedLink } from "./domain/link.ts";

const link = forwardedLink(location.pathname);
if (link) location.replace(link);
else document.documentElement.classList.add("ready");
