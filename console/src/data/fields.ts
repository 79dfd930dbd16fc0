// Fields of documents, which may hold anything.

import { Timestamp } from "firebase/firestore";

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export function date(value: unknown): Date | null {
  return value instanceof Timestamp ? value.toDate() : null;
}

/** Who has done something. */
export interface Person {
  readonly uid: string;
  /** May be empty, and unverified. */
  readonly email: string;
}

export function person(value: unknown): Person | null {
  const { uid, email } = (value ?? {}) as Record<string, unknown>;
  return text(uid) ? { uid: text(uid), email: text(email) } : null;
}
