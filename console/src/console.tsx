// The organizer's console: `/console`.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import { type Sdk, connect } from "./data/sdk.ts";
import { type Session, watchSession } from "./data/session.ts";
import { NoProjectError } from "./data/site.ts";
import { Empty, Skeleton } from "./ui/notice.tsx";
import { useRoute } from "./ui/route.ts";
import { EventPage } from "./views/event_page.tsx";
import { EventsView } from "./views/events.tsx";
import { NobodyView, SignInView } from "./views/sign_in.tsx";
import { TopBar } from "./views/top_bar.tsx";

function App() {
  const [sdk, setSdk] = useState<Sdk | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    connect().then(setSdk, setFailure);
  }, []);
  if (failure) return <NotConnected failure={failure} />;
  return sdk ? <Console sdk={sdk} /> : <Loading />;
}

function Console({ sdk }: { readonly sdk: Sdk }) {
  const [session, setSession] = useState<Session>({ state: "loading" });
  const route = useRoute();
  useEffect(() => watchSession(sdk.auth, setSession), [sdk]);

  if (session.state === "loading") return <Loading />;
  if (session.state === "signed out") return <SignInView auth={sdk.auth} />;
  if (session.state === "nobody") return <NobodyView auth={sdk.auth} email={session.email} />;
  const { staff } = session;
  if (route.at === "events") {
    return (
      <>
        <TopBar auth={sdk.auth} staff={staff} />
        <main tabIndex={-1}>
          <EventsView db={sdk.db} staff={staff} />
        </main>
      </>
    );
  }
  // Everything of one person and event goes with them.
  return <EventPage key={`${staff.uid} ${route.eventId}`} sdk={sdk} staff={staff} route={route} />;
}

function Loading() {
  return (
    <main class="middle">
      <Skeleton rows={3} />
    </main>
  );
}

function NotConnected({ failure }: { readonly failure: unknown }) {
  return (
    <main class="middle">
      <Empty title="The console cannot start">
        {failure instanceof NoProjectError ? (
          <p>
            This site does not say which project it belongs to. Register a web app in the Firebase
            console, then deploy Hosting once more.
          </p>
        ) : (
          <p>The site cannot be reached. Are you offline?</p>
        )}
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </Empty>
    </main>
  );
}

const page = document.getElementById("page");
if (page) render(<App />, page);
