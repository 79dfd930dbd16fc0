// The receiver's page: `/deliveries#token=…`.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import { takeToken } from "./ui/token.ts";
import { ReceiverPage } from "./views/receiver/receiver_page.tsx";
import { NoLink } from "./views/receiver/refusals.tsx";

function App() {
  const [token, setToken] = useState(takeToken);
  useEffect(() => {
    // Another link that is opened in this tab differs in the fragment only, and loads no page.
    const follow = () => setToken(takeToken());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return token ? <ReceiverPage key={token} token={token} /> : <NoLink />;
}

const page = document.getElementById("page");
if (page) render(<App />, page);
