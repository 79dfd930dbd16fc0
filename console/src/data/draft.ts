// The recap that is being written, which stays with the event in this browser until it is sent.

import { type RecapTexts, enteredTexts, recapTexts } from "../domain/recap_text.ts";
import type { RecapText } from "./calls.ts";

export interface Draft extends RecapTexts {
  readonly mode: RecapText["mode"];
  /** Whether it goes only to guests who have had no recap of the event. */
  readonly onlyNew: boolean;
}

export const EMPTY_DRAFT: Draft = { mode: "personal", ...recapTexts(() => ""), onlyNew: false };

const PREFIX = "console.draft.";

export function readDraft(eventId: string): Draft {
  try {
    return { ...EMPTY_DRAFT, ...(JSON.parse(localStorage.getItem(PREFIX + eventId) ?? "{}") as Partial<Draft>) };
  } catch {
    return EMPTY_DRAFT;
  }
}

export function keepDraft(eventId: string, draft: Draft): void {
  localStorage.setItem(PREFIX + eventId, JSON.stringify(draft));
}

/** Leaves no words behind on a shared machine. */
export function forgetDrafts(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}

/** The arguments of a call for this draft. */
export function textOf(draft: Draft): RecapText {
  return { mode: draft.mode, ...enteredTexts(draft), ...(draft.onlyNew && { onlyNew: true }) };
}
