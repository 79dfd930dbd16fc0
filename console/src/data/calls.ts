// The service's functions, as the console calls them (docs/openapi.yaml).

import type { Outcome } from "../domain/delivery.ts";
import type { EventType } from "../domain/event_type.ts";
import type { Trouble } from "../domain/recap.ts";
import type { RecapTexts } from "../domain/recap_text.ts";
import type { LeftAlone } from "../domain/words.ts";
import { CALL_MS, call } from "./call.ts";
import { NoAnswerError } from "./errors.ts";

export interface TestResult {
  readonly deliveryId: string;
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly ms: number | null;
  readonly error: string | null;
  readonly nextAttemptAt: string | null;
}

export interface ResendPage {
  readonly resent: number;
  readonly leftAlone: number;
  readonly more: boolean;
  readonly next: string | null;
}

export interface Share {
  readonly link: string;
  readonly shareId: string;
  readonly expiresAt: string;
}

export interface Rotated {
  readonly rotatedAt: string | null;
  readonly activeFrom: string;
  readonly oldSecretUsedUntil: string;
}

export interface RecapText extends Partial<RecapTexts> {
  readonly mode: "personal" | "all";
  /** Whether only guests without a recap of the event get one. */
  readonly onlyNew?: boolean;
}

export interface Preview {
  readonly from: string;
  readonly replyTo: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly recipients: number;
  /** Guests who would be skipped; missing for an event of few guests. */
  readonly skipped?: number;
  /** Of the recipients, guests who have had a recap of the event before. */
  readonly hadRecap: number;
  readonly left: number;
  /** Approved photos that no email shows because their hosts aren't in PHOTO_HOSTS. */
  readonly hidden: number;
  /** The refusal that sending would get now. */
  readonly blocked?: { readonly code: string; readonly message: string; readonly possibleFrom?: string };
  readonly notes?: readonly string[];
  readonly mailed?: boolean;
  /** Guests whom that recap did not reach, and guests who marked it as spam. */
  readonly unreached?: readonly Unreached[];
}

export interface Unreached {
  /** Empty, like the address, if the guest has no approved photo. */
  readonly name: string;
  readonly address: string;
  readonly trouble: Trouble;
}

export interface Sent {
  readonly sent: number;
  readonly skipped?: number;
  /** Why no email was sent. */
  readonly message?: string;
  readonly notes?: readonly string[];
}

/** The effect of a recovery: deliveries that would be sent again, and why others would not. */
export interface Foreseen {
  readonly matching: number;
  readonly leftAlone: LeftAlone;
}

/** For calls that read all deliveries or guests of an event, or call a receiver. */
const LOOK_MS = 60_000;
/** A little longer than sending a recap may take. */
const RECAP_MS = 600_000;

/** The calls about one event. */
export class Calls {
  constructor(
    private readonly idToken: () => Promise<string>,
    private readonly eventId: string,
  ) {}

  resend(deliveryId: string): Promise<ResendPage> {
    return this.#call("resendWebhook", { deliveryId }, "the delivery's attempts");
  }

  /** Counts the failed and skipped deliveries to `url` since that time: those that can be resent, and why others can't. */
  foresee(url: string, since: Date): Promise<Foreseen> {
    return this.#call("resendWebhook", { url, since: since.toISOString(), dryRun: true }, null, LOOK_MS);
  }

  /** Resends one page of them. */
  recover(url: string, since: Date, next: string | null): Promise<ResendPage> {
    const data = { url, since: since.toISOString(), ...(next && { next }) };
    return this.#call("resendWebhook", data, "the deliveries", LOOK_MS);
  }

  test(url: string, event: EventType): Promise<TestResult> {
    return this.#call("sendTestWebhook", { url, event }, "the deliveries", LOOK_MS);
  }

  share(url: string, days: number, canResend: boolean): Promise<Share> {
    return this.#call("shareWebhookLog", { url, days, canResend }, "the shared logs");
  }

  revoke(shareId: string): Promise<unknown> {
    return this.#call("revokeWebhookLog", { shareId }, "the shared logs");
  }

  rotate(activeInMinutes: number): Promise<Rotated> {
    return this.#call("rotateWebhookSecret", { activeInMinutes }, "the secret");
  }

  /** Ends the announced secret before it signs. */
  withdraw(): Promise<unknown> {
    return this.#call("rotateWebhookSecret", { withdraw: true }, "the secret");
  }

  /** `guest` is the address of the guest whose email is shown. If it is empty, the guest with the most photos is used. */
  preview(text: RecapText, sendToMe: boolean, guest = ""): Promise<Preview> {
    return this.#call("previewEventRecap", { ...text, sendToMe, ...(guest && { guest }) }, sendToMe ? "your mailbox" : null, LOOK_MS);
  }

  /** Returns the email of a sent recap, composed again from its text, and the guests it did not reach. */
  lookAgain(text: RecapText, recapId: string): Promise<Preview> {
    return this.#call("previewEventRecap", { ...text, recapId }, null, LOOK_MS);
  }

  send(text: RecapText): Promise<Sent> {
    return this.#call("sendEventRecap", text, "the recaps below", RECAP_MS);
  }

  /** Schedules the recap for that time, in place of the scheduled one; null cancels that. */
  schedule(text: RecapText | null, at: Date | null): Promise<unknown> {
    return this.#call("scheduleEventRecap", { ...text, at: at && at.toISOString() }, "the scheduled recap", LOOK_MS);
  }

  /** Resends the last recap to guests whose email the provider has not confirmed and not reported. */
  resendUnconfirmed(): Promise<Sent> {
    return this.#call("sendEventRecap", { resendUnconfirmed: true }, "the recaps below", RECAP_MS);
  }

  async #call<Result>(name: string, data: object, lookAt: string | null, limitMs = CALL_MS): Promise<Result> {
    let token: string;
    try {
      token = await this.idToken();
    } catch {
      // The call needs a token, so nothing was sent.
      throw new NoAnswerError(null);
    }
    return call(name, { eventId: this.eventId, ...data }, { token, lookAt, limitMs });
  }
}
