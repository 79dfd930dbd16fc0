import { useState } from "preact/hooks";

import { saveNotify } from "../../data/endpoints.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

const MAX_ADDRESSES = 5;
// As the rules read one.
const ADDRESS = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-zA-Z0-9-]{1,63}([.][a-zA-Z0-9-]{1,63}){1,8}$/;

interface Props {
  readonly notify: readonly string[];
  readonly mayEdit: boolean;
}

/** Who gets a mail when a URL fails, is given up, and works again. */
export function NotifyCard({ notify, mayEdit }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="card" aria-labelledby="notify">
      <h2 id="notify">Who is told of failures</h2>
      <p class="quiet-text">
        When five deliveries in a row have failed, when a receiver is switched off, and when it works again; one mail each. An address is asked first whether it
        wants them, and gets none before its owner has confirmed.
      </p>
      {notify.length ? (
        <ul class="plain-list">
          {notify.map((one) => <li key={one}><Foreign>{one}</Foreign></li>)}
        </ul>
      ) : (
        <p>Nobody.</p>
      )}
      {mayEdit && (
        <div class="actions">
          <button type="button" onClick={() => setOpen(true)}>Change</button>
        </div>
      )}
      {isOpen && <NotifyDialog notify={notify} onClose={() => setOpen(false)} />}
    </section>
  );
}

function NotifyDialog({ notify, onClose }: { readonly notify: readonly string[]; readonly onClose: () => void }) {
  const { sdk, eventId } = usePlace();
  const [text, setText] = useState(notify.join("\n"));
  const work = useWork();
  const addresses = [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
  const bad = addresses.find((one) => !ADDRESS.test(one));
  const problem = bad
    ? `“${bad}” is no e-mail address that can be written to.`
    : addresses.length > MAX_ADDRESSES
      ? `${addresses.length} addresses; ${MAX_ADDRESSES} are the most.`
      : "";

  function submit(event: Event) {
    event.preventDefault();
    if (problem) return;
    void work.run(async () => {
      await saveNotify(sdk.db, eventId, addresses);
      onClose();
    });
  }

  return (
    <Dialog title="Who is told of failures" onClose={onClose}>
      <form onSubmit={submit}>
        <div class="field">
          <label for="notify-addresses">E-mail addresses, one a line</label>
          <textarea
            id="notify-addresses"
            rows={5}
            value={text}
            spellcheck={false}
            aria-invalid={problem !== ""}
            aria-describedby="notify-told"
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p id="notify-told" class={problem ? "field-error" : "quiet-text"}>
            {problem || `${MAX_ADDRESSES} at most. They learn the host of the URL and the reason, nothing of guests.`}
          </p>
        </div>
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Cancel</button>
          <ActionButton busy={work.isBusy} kind="primary" submits disabled={problem !== ""}>Save</ActionButton>
        </div>
      </form>
    </Dialog>
  );
}
