// The service's functions, as the console calls them (docs/openapi.yaml).

import { type Functions, httpsCallable } from "firebase/functions";

import type { EventType, Outcome } from "../domain/delivery.ts";

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
  readonly message: string;
}

export interface RecapText {
  readonly mode: "personal" | "all";
  readonly subject?: string;
  readonly message?: string;
}

export interface Preview {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly recipients: number;
  readonly skipped: number;
  readonly left: number;
  readonly skippedBy?: { readonly invalidAddress: number; readonly optedOut: number; readonly hadEnough: number };
  /** What sending would be refused with by now. */
  readonly blocked?: { readonly code: string; readonly message: string };
  readonly message?: string;
  readonly mailed?: boolean;
}

export interface Sent {
  readonly sent: number;
  readonly skipped?: number;
  readonly message?: string;
}

/** The calls about one event. */
export class Calls {
  constructor(
    private readonly functions: Functions,
    private readonly eventId: string,
  ) {}

  resend(deliveryId: string): Promise<ResendPage> {
    return this.#call("resendWebhook", { deliveryId });
  }

  /** How many deliveries to `url` have failed or been skipped since then. */
  async undelivered(url: string, since: Date): Promise<number> {
    const { matching } = await this.#call<{ matching: number }>("resendWebhook", {
      url,
      since: since.toISOString(),
      dryRun: true,
    });
    return matching;
  }

  /** Sends a page of them again. */
  recover(url: string, since: Date, next: string | null): Promise<ResendPage> {
    return this.#call("resendWebhook", { url, since: since.toISOString(), ...(next && { next }) });
  }

  test(url: string, event: EventType): Promise<TestResult> {
    return this.#call("sendTestWebhook", { url, event });
  }

  share(url: string, days: number, canResend: boolean): Promise<Share> {
    return this.#call("shareWebhookLog", { url, days, canResend });
  }

  revoke(shareId: string): Promise<unknown> {
    return this.#call("revokeWebhookLog", { shareId });
  }

  rotate(activeInMinutes: number): Promise<Rotated> {
    return this.#call("rotateWebhookSecret", { activeInMinutes });
  }

  preview(text: RecapText, sendToMe: boolean): Promise<Preview> {
    return this.#call("previewEventRecap", { ...text, sendToMe });
  }

  send(text: RecapText): Promise<Sent> {
    return this.#call("sendEventRecap", text);
  }

  async #call<Result>(name: string, data: object): Promise<Result> {
    // Longer than any of the functions may take, the recap's nine minutes included.
    const call = httpsCallable<object, Result>(this.functions, name, { timeout: 600_000 });
    return (await call({ eventId: this.eventId, ...data })).data;
  }
}
