import { type Settings, watchSettings } from "../../data/endpoints.ts";
import { type Live, useLive } from "../../ui/live.tsx";
import { usePlace } from "../place.ts";

/** The receivers of the event, live. */
export function useSettings(): Live<Settings> {
  const { sdk, eventId } = usePlace();
  return useLive(() => watchSettings(sdk.db, eventId), [sdk, eventId]);
}
