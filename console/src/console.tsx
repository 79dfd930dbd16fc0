// The organizer's console: `/console`.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import { type Connection, connect } from "./data/sdk.ts";
import { type Session, watchSession } from "./data/session.ts";
import { NoProjectError } from "./data/site.ts";
import { keepFocus } from "./ui/focus.ts";
import { Empty, Skeleton } from "./ui/notice.tsx";
import { NobodyView, SignInView } from "./views/sign_in.tsx";

// Everything that reads, Firestore's part among it; it is not needed to sign in.
const signedIn = () => import("./views/signed_in.tsx");
type Rest = Awaited<ReturnType<typeof signedIn>>;

function App() {
  const [connection, setConnection] = useState<Connection | null>(null);
  const [session, setSession] = useState<Session>({ state: "loading" });
  const [rest, setRest] = useState<Rest | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    connect().then(setConnection, setFailure);
  }, []);
  useEffect(() => (connection ? watchSession(connection.auth, setSession) : undefined), [connection]);
  useEffect(() => {
    // While someone types a password there is time to load what comes after it.
    if (session.state !== "loading") signedIn().then(setRest, setFailure);
  }, [session.state]);

  if (connection && session.state === "signed out") return <SignInView auth={connection.auth} unsent={session.unsent} />;
  if (connection && session.state === "nobody") return <NobodyView auth={connection.auth} email={session.email} />;
  if (failure) return <NotConnected failure={failure} />;
  if (!connection || session.state !== "staff" || !rest) return <Loading />;
  return <rest.SignedIn connection={connection} staff={session.staff} />;
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
      <Empty isView title="The console can't start">
        {failure instanceof NoProjectError ? (
          <p>
            This site isn't linked to a Firebase project. Register a web app in the Firebase console, then deploy
            Hosting again.
          </p>
        ) : (
          <p>Can't reach the server. Check your connection.</p>
        )}
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </Empty>
    </main>
  );
}

const page = document.getElementById("page");
if (page) {
  // The frame that the HTML shows has done its work.
  page.replaceChildren();
  keepFocus();
  render(<App />, page);
}
