import { type Settings, watchSettings } from "../../data/endpoints.ts";
import { type Live, useLive } from "../../ui/live.tsx";
import { usePlace } from "../place.ts";

/** The receivers of the event, live. */
export function useSettings(): Live<Settings> {
  const { sdk, eventId } = usePlace();
  return useLive<Settings>((onValue, onError) => watchSettings(sdk.db, eventId, onValue, onError), [sdk, eventId]);
}
