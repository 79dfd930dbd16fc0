import { useMemo } from "preact/hooks";

import type { Connection } from "../data/sdk.ts";
import type { Staff } from "../data/session.ts";
import { storeOf } from "../data/store.ts";
import { useRoute } from "../ui/route.ts";
import { EventPage } from "./event_page.tsx";
import { EventsView } from "./events.tsx";
import { TopBar } from "./top_bar.tsx";

interface Props {
  readonly connection: Connection;
  readonly staff: Staff;
}

/** The views of staff: the events, or one event. It is loaded after sign-in. */
export function SignedIn({ connection, staff }: Props) {
  const route = useRoute();
  const { app, auth } = connection;
  const db = storeOf(app);
  const sdk = useMemo(() => ({ auth, db }), [auth, db]);
  if (route.at === "events") {
    return (
      <>
        <TopBar auth={auth} staff={staff} />
        <main tabIndex={-1}>
          <EventsView db={db} staff={staff} />
        </main>
      </>
    );
  }
  // Everything of one person and event goes with them.
  return <EventPage key={`${staff.uid} ${route.eventId}`} sdk={sdk} staff={staff} route={route} />;
}
