import type { Auth } from "firebase/auth";
import { useEffect, useState } from "preact/hooks";

import { isMailedLink, leave, mailLink, mailedTo, resetPassword, signIn, signInByLink } from "../data/session.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { Field } from "../ui/form.tsx";
import { Heading } from "../ui/heading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";

interface SignInProps {
  readonly auth: Auth;
  /** Changes that were not confirmed when the session ended; null if no session has ended. */
  readonly unsent: readonly string[] | null;
}

/** Email and password. */
export function SignInView({ auth, unsent }: SignInProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [told, setTold] = useState("");
  // An emailed link has opened the page, so no password is needed.
  const [isByLink, setByLink] = useState(() => isMailedLink(auth));
  const work = useWork();
  const byLink = (address: string) =>
    work.run(async () => {
      setByLink(false);
      await signInByLink(auth, address);
    });
  useEffect(() => {
    const known = mailedTo();
    if (isByLink && known) void byLink(known);
  }, []);

  function submit(event: Event) {
    event.preventDefault();
    setTold("");
    if (isByLink) void byLink(email.trim());
    else void work.run(() => signIn(auth, email.trim(), password));
  }

  const ask = (mail: typeof mailLink, words: string) => () => {
    if (!email.includes("@")) return setTold("Enter your email address first.");
    setTold("");
    return void work.run(async () => {
      await mail(auth, email.trim());
      setTold(words);
    });
  };
  const mailMe = ask(mailLink, "Check your inbox. Open the link in this browser to sign in.");
  const reset = ask(resetPassword, "If an account exists for this address, we've sent a password reset link.");

  return (
    <main class="middle">
      {unsent && (
        <Notice kind="warning">
          <p>Your session expired. Sign in to pick up where you left off.</p>
          {unsent.length > 0 && <><p>These changes may not have been saved. Please check them:</p><ul>{unsent.map((words) => <li key={words}><bdi>{words}</bdi></li>)}</ul></>}
        </Notice>
      )}
      <form class="card" onSubmit={submit}>
        <img src="/icon.svg" alt="" width="40" height="40" />
        <Heading title="Sign in">Sign in</Heading>
        <p class="quiet-text">Manage your events: photos, recap emails and webhooks.</p>
        <Field label="Email" type="email" complete="username" value={email} onChange={setEmail} />
        {!isByLink && <Field label="Password" type="password" complete="current-password" value={password} onChange={setPassword} />}
        {isByLink && <p class="quiet-text">Enter the email address this link was sent to.</p>}
        {work.error && <Notice kind="error">{work.error}</Notice>}
        {told && <Notice>{told}</Notice>}
        <ActionButton busy={work.isBusy} kind="primary" submits>Sign in</ActionButton>
        {!isByLink && (
          <ActionButton busy={false} kind="quiet" onClick={mailMe}>Email me a sign-in link</ActionButton>
        )}
        <ActionButton busy={false} kind="quiet" onClick={reset}>Forgot password?</ActionButton>
      </form>
    </main>
  );
}

/** Signed in, but with no part in any event. */
export function NobodyView({ auth, email }: { readonly auth: Auth; readonly email: string }) {
  return (
    <main class="middle">
      <div class="card">
        <Heading title="No access">You don't have access to any events yet</Heading>
        <p>
          You are signed in{email && <> as <strong><Foreign>{email}</Foreign></strong></>}. Ask your administrator to give you
          access, then sign in again.
        </p>
        <button type="button" class="primary" onClick={() => leave(auth)}>
          Sign out
        </button>
      </div>
    </main>
  );
}
