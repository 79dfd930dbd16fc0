import type { Auth } from "firebase/auth";
import type { ComponentChildren } from "preact";

import { type Staff, leave } from "../data/session.ts";
import { useOnline } from "../ui/online.ts";
import { Foreign } from "../ui/text.tsx";

interface Props {
  readonly auth: Auth;
  readonly staff: Staff;
  readonly children?: ComponentChildren;
}

/** The place and the person, and whether there is a network. */
export function TopBar({ auth, staff, children }: Props) {
  const isOnline = useOnline();
  return (
    <header class="top">
      {/* No link: the fragment is the address of the view. */}
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to content
      </button>
      <a class="brand" href="#/events">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>Photo wall</span>
      </a>
      {children}
      <div class="who">
        {isOnline ? (
          <span class="person">
            <Foreign>{staff.email || staff.uid}</Foreign>
            <span class="role">{staff.role}</span>
          </span>
        ) : (
          // In the place of the person, and in two lines at most, so that nothing below it moves.
          <span class="person offline" role="status">You're offline. Reconnecting…</span>
        )}
        <button type="button" class="quiet" onClick={() => leave(auth)}>
          Sign out
        </button>
      </div>
    </header>
  );
}
