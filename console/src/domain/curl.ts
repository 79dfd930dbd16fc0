// A delivery as a command for a terminal.

import type { Delivery } from "./delivery.ts";
import { problem } from "./endpoint.ts";
import { sign } from "./signature.ts";

export const USER_AGENT = "Wall-Webhooks/1.0";

/** The headers of a delivery (spec 6.2), without the signature, which each attempt has its own of. */
export function headers(delivery: Delivery, eventId: string): readonly (readonly [string, string])[] {
  return [
    ["Content-Type", "application/json"],
    ["User-Agent", USER_AGENT],
    ["Wall-Event-Type", delivery.event],
    ["Wall-Event-Id", eventId],
    ["Wall-Delivery-Id", delivery.id],
  ];
}

/** Whether there is anything to call. */
export function isCallable(delivery: Delivery): boolean {
  return problem(delivery.url) === null;
}

/** A command that sends the delivery as it is sent, signed with `secret` at `now`. */
export async function signedCurl(
  delivery: Delivery,
  eventId: string,
  secret: string,
  now: Date,
): Promise<string> {
  const at = Math.floor(now.getTime() / 1000);
  const signature = `t=${at},v1=${await sign(secret, at, delivery.body)}`;
  return command(delivery, eventId, quoted(`Wall-Signature: ${signature}`));
}

/** Likewise, by a command that signs where it runs, with the secret in `WALL_SECRET`. */
export function signingCurl(delivery: Delivery, eventId: string): string {
  return [
    "# Needs the event's webhook secret: WALL_SECRET=whsec_…",
    `body=${quoted(delivery.body)}`,
    "t=$(date +%s)",
    'v1=$(printf %s "$t.$body" | openssl dgst -sha256 -hmac "$WALL_SECRET" | sed "s/.*= *//")',
    command(delivery, eventId, '"Wall-Signature: t=$t,v1=$v1"', '"$body"'),
  ].join("\n");
}

// The body comes by a pipe: as an argument it could be too long for the system, and what begins with
// an @ would be taken for a file.
function command(delivery: Delivery, eventId: string, signature: string, body?: string): string {
  const lines = [
    `printf %s ${body ?? quoted(delivery.body)} | curl --globoff --request POST --url ${quoted(delivery.url)}`,
    `--header ${signature}`,
    ...headers(delivery, eventId).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    "--data-binary @-",
  ];
  return lines.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
