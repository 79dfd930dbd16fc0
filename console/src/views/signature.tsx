import { useState } from "preact/hooks";

import { type Finding, TOLERANCE_SECONDS, examine } from "../domain/signature.ts";
import { span, toInput, fromInput } from "../domain/time.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { Heading } from "../ui/heading.tsx";
import { Notice } from "../ui/notice.tsx";

/** Says why a signature does not verify. Nothing that is pasted leaves the browser. */
export function SignatureView() {
  const [header, setHeader] = useState("");
  const [body, setBody] = useState("");
  const [secret, setSecret] = useState("");
  const [cameAt, setCameAt] = useState("");
  const [finding, setFinding] = useState<Finding | null>(null);
  const work = useWork();
  const change = (set: (value: string) => void) => (event: { currentTarget: { value: string } }) => {
    set(event.currentTarget.value);
    setFinding(null);
  };

  function submit(event: Event) {
    event.preventDefault();
    void work.run(async () => setFinding(await examine({ header, body, secret }, fromInput(cameAt) ?? new Date())));
  }

  return (
    <div class="column">
      <Heading title="Signature checker">Signature checker</Heading>
      <p class="quiet-text prose">
        Paste what the receiver got, and what it verifies with. It is looked at here in your browser: nothing is sent
        anywhere.
      </p>
      <form class="card" onSubmit={submit} autoComplete="off">
        <div class="field">
          <label for="check-header">Wall-Signature header</label>
          <input id="check-header" class="mono" value={header} placeholder="t=1777660200,v1=5257a869e7…" spellcheck={false} onInput={change(setHeader)} />
        </div>
        <div class="field">
          <label for="check-body">Body, as it goes into the check</label>
          <textarea id="check-body" class="mono" rows={8} value={body} spellcheck={false} onInput={change(setBody)} />
        </div>
        <div class="two">
          <div class="field">
            <label for="check-secret">Secret</label>
            <input id="check-secret" class="mono" type="password" autoComplete="off" value={secret} onInput={change(setSecret)} />
          </div>
          <div class="field">
            <label for="check-time">When the request came (empty: just now)</label>
            <input id="check-time" type="datetime-local" max={toInput(new Date())} value={cameAt} onInput={change(setCameAt)} />
          </div>
        </div>
        <div class="actions">
          <ActionButton busy={work.isBusy} kind="primary" submits>Check</ActionButton>
        </div>
        <div aria-live="polite">{finding && <Verdict finding={finding} />}</div>
      </form>
    </div>
  );
}

function Verdict({ finding }: { readonly finding: Finding }) {
  switch (finding.cause) {
    case "none":
      return (
        <Notice kind="success">
          <strong>It verifies.</strong> Header, body and secret fit, and it was signed {span(Math.abs(finding.age) * 1000)}{" "}
          {finding.age >= 0 ? "before" : "after"} it came.
        </Notice>
      );
    case "header":
      return <Notice kind="error"><strong>The header cannot be read.</strong> {finding.detail}</Notice>;
    case "clock":
      return (
        <Notice kind="warning">
          <p>
            <strong>The clock.</strong> Header, body and secret fit, but it was signed {span(Math.abs(finding.age) * 1000)}{" "}
            {finding.age >= 0 ? "before" : "after"} it came; receivers take {TOLERANCE_SECONDS} seconds.
          </p>
          <p>
            {finding.age >= 0
              ? "Where the request is an old one, say above when it came. Where it came just now, the receiver's clock is ahead, or it was sent once more by somebody else."
              : "The receiver's clock is behind: let it follow a time server."}
          </p>
        </Notice>
      );
    case "body":
      return (
        <Notice kind="error">
          <p><strong>{finding.certain ? "The body" : "Probably the body"}.</strong> {finding.how}</p>
          <p>
            {finding.certain ? "What was sent verifies with this secret. " : ""}
            Verify the raw bytes of the request, before any framework has parsed them.
          </p>
        </Notice>
      );
    case "secret":
      return (
        <Notice kind="error">
          <p><strong>{finding.certain ? "The secret" : "Probably the secret"}.</strong> {finding.how}</p>
          {!finding.certain && (
            <p>Is it that of this event, and was it replaced? Superadmins see under Secret which one signs, and since when.</p>
          )}
        </Notice>
      );
  }
}
