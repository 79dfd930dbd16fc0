import type { Auth } from "firebase/auth";
import { useState } from "preact/hooks";

import { leave, resetPassword, signIn } from "../data/session.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { Heading } from "../ui/heading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";

/** E-mail and password. */
export function SignInView({ auth }: { readonly auth: Auth }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [told, setTold] = useState("");
  const work = useWork();

  function submit(event: Event) {
    event.preventDefault();
    setTold("");
    void work.run(() => signIn(auth, email.trim(), password));
  }

  function reset() {
    setTold("");
    void work.run(async () => {
      await resetPassword(auth, email.trim());
      setTold("If there is an account for this address, a mail with a link is on its way.");
    });
  }

  return (
    <main class="middle">
      <form class="card sign-in" onSubmit={submit}>
        <img src="/icon.svg" alt="" width="40" height="40" />
        <Heading title="Sign in">Sign in</Heading>
        <p class="quiet-text">For the people who run an event: its webhooks, their deliveries, and the recap.</p>
        <label for="email">E-mail</label>
        <input
          id="email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
        <label for="password">Password</label>
        <input
          id="password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        {work.error && <Notice kind="error">{work.error}</Notice>}
        {told && <Notice>{told}</Notice>}
        <ActionButton busy={work.isBusy} kind="primary" submits>
          Sign in
        </ActionButton>
        <ActionButton busy={false} kind="quiet" onClick={reset} disabled={!email.includes("@")}>
          I have forgotten the password
        </ActionButton>
      </form>
    </main>
  );
}

/** Signed in, but with no part in any event. */
export function NobodyView({ auth, email }: { readonly auth: Auth; readonly email: string }) {
  return (
    <main class="middle">
      <div class="card">
        <Heading title="No access">You have no part in an event yet</Heading>
        <p>
          You are signed in{email && <> as <strong><Foreign>{email}</Foreign></strong></>}. Whoever runs this service
          has to make you a moderator or an admin; after that, sign in again.
        </p>
        <button type="button" class="primary" onClick={() => leave(auth)}>
          Sign out
        </button>
      </div>
    </main>
  );
}
