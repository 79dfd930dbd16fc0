// Who has signed in, and as what.

import {
  type Auth,
  onIdTokenChanged,
  sendPasswordResetEmail,
  signInWithEmailAndPassword,
  signOut,
} from "firebase/auth";

export type Role = "moderator" | "admin" | "superadmin";

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
  | { readonly state: "signed out" }
  /** Signed in, without a role in any tenant. */
  | { readonly state: "nobody"; readonly email: string }
  | { readonly state: "staff"; readonly staff: Staff };

/** Tells the session, now and whenever it changes. */
export function watchSession(auth: Auth, onSession: (session: Session) => void): () => void {
  return onIdTokenChanged(auth, async (user) => {
    if (!user) return onSession({ state: "signed out" });
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

export async function leave(auth: Auth): Promise<void> {
  await signOut(auth);
}

/** Whether somebody may see what holds webhook URLs, as the rules say (`isOwnerOf`). */
export function seesDeliveries({ role }: Staff): boolean {
  return role === "admin" || role === "superadmin";
}

/** Whether somebody may change webhook URLs. */
export function editsEndpoints({ role }: Staff): boolean {
  return role === "admin";
}

export function seesSecret({ role }: Staff): boolean {
  return role === "superadmin";
}
