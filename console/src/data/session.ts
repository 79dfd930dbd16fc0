// Who has signed in, and as what.

import {
  type Auth,
  isSignInWithEmailLink,
  onIdTokenChanged,
  sendPasswordResetEmail,
  sendSignInLinkToEmail,
  signInWithEmailAndPassword,
  signInWithEmailLink,
  signOut,
} from "firebase/auth";

import type { Role } from "../domain/address.ts";
import { forgetDrafts } from "./draft.ts";
import { openWork } from "./open_work.ts";

/** Somebody with a role: the claims of the ID token, which the rules and the calls go by. */
export interface Staff {
  readonly uid: string;
  readonly email: string;
  readonly isVerified: boolean;
  readonly role: Role;
  /** Null for a superadmin of all tenants. */
  readonly tenantId: string | null;
}

export type Session =
  | { readonly state: "loading" }
  /** `unsent` lists the changes that were not confirmed when the session ended; null if no session has ended, or if the person signed out. */
  | { readonly state: "signed out"; readonly unsent: readonly string[] | null }
  /** Signed in, without a role in any tenant. */
  | { readonly state: "nobody"; readonly email: string }
  | { readonly state: "staff"; readonly staff: Staff };

let isLeaving = false;

/** Tells the session, now and whenever it changes. */
export function watchSession(auth: Auth, onSession: (session: Session) => void): () => void {
  let wasIn = false;
  return onIdTokenChanged(auth, async (user) => {
    const unsent = wasIn && !isLeaving ? openWork() : null;
    wasIn = user !== null;
    isLeaving = false;
    if (!user) return onSession({ state: "signed out", unsent });
    const email = user.email ?? "";
    const { claims } = await user.getIdTokenResult();
    const role = claims["role"];
    const tenantId = typeof claims["tenantId"] === "string" ? claims["tenantId"] : null;
    const isStaff = role === "superadmin" || ((role === "admin" || role === "moderator") && tenantId);
    if (!isStaff) return onSession({ state: "nobody", email });
    const staff = { uid: user.uid, email, isVerified: user.emailVerified, role: role as Role, tenantId };
    return onSession({ state: "staff", staff });
  });
}

export async function signIn(auth: Auth, email: string, password: string): Promise<void> {
  await signInWithEmailAndPassword(auth, email, password);
}

export async function resetPassword(auth: Auth, email: string): Promise<void> {
  await sendPasswordResetEmail(auth, email);
}

// Whom a link was mailed to from this browser: to be signed in with it, one has to say who one is.
const MAILED_TO = "console.mailedTo";

/** Emails a sign-in link that leads back to this page; the project must have enabled such links. */
export async function mailLink(auth: Auth, email: string): Promise<void> {
  const url = location.origin + location.pathname;
  await sendSignInLinkToEmail(auth, email, { url, handleCodeInApp: true });
  localStorage.setItem(MAILED_TO, email);
}

/** Whether the page was opened by such a link. */
export function isMailedLink(auth: Auth): boolean {
  return isSignInWithEmailLink(auth, location.href);
}

/** Whom it was mailed to; null if that was asked for in another browser. */
export function mailedTo(): string | null {
  return localStorage.getItem(MAILED_TO);
}

/** Signs in with the link that opened the page, and removes it from the address. */
export async function signInByLink(auth: Auth, email: string): Promise<void> {
  const link = location.href;
  history.replaceState(null, "", location.pathname);
  await signInWithEmailLink(auth, email, link);
  localStorage.removeItem(MAILED_TO);
}

/** The ID token that proves to a function who calls. */
export function idToken(auth: Auth): Promise<string> {
  return auth.currentUser?.getIdToken() ?? Promise.reject(new Error("signed out"));
}

export async function leave(auth: Auth): Promise<void> {
  forgetDrafts();
  isLeaving = true;
  await signOut(auth);
}

/** Whether a staff member may change events and endpoints. A superadmin may do what an admin may. */
export function isAdmin({ role }: Staff): boolean {
  return role === "admin" || role === "superadmin";
}

/** Whether a staff member may decide on photos; the decision bears their address, so it has to be theirs. */
export function moderates(_: Staff): boolean {
  return true;
}
