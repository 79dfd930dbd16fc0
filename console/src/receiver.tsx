// The page behind a link: `/deliveries#token=…`.

import { render } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

import { keepFocus } from "./ui/focus.ts";
import { takeLink } from "./ui/token.ts";
import { LinkPage } from "./views/link/link_page.tsx";
import { NoLink } from "./views/link/refusals.tsx";

function App() {
  const [link, setLink] = useState(takeLink);
  useLayoutEffect(() => {
    // Another link that is opened in this tab differs in the fragment only, and loads no page.
    const follow = () => setLink(takeLink());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return link ? <LinkPage key={link.token} link={link} /> : <NoLink />;
}

const page = document.getElementById("page");
if (page) {
  keepFocus();
  render(<App />, page);
}
