// A delivery as a command for a terminal.

import type { Delivery } from "./delivery.ts";
import { problem } from "./endpoint.ts";

export const USER_AGENT = "Wall-Webhooks/1.0";

/** The parts of a delivery that a command contains. */
export type Sendable = Pick<Delivery, "id" | "event" | "url" | "body" | "test">;

/** The headers of a delivery (spec 6.2), without the signatures, which each attempt has its own of. */
export function headers(delivery: Sendable, eventId: string): readonly (readonly [string, string])[] {
  return [
    ["Content-Type", "application/json"],
    ["User-Agent", USER_AGENT],
    ["Wall-Event-Type", delivery.event],
    ["Wall-Event-Id", eventId],
    ["Wall-Delivery-Id", delivery.id],
    ...(delivery.test ? [["Wall-Test", "true"] as const] : []),
  ];
}

/** Whether there is anything to call. */
export function isCallable(delivery: Sendable): boolean {
  return problem(delivery.url) === null;
}

/** Returns a command that sends the delivery. The command itself signs, with the secret in `WALL_SECRET`. */
export function signingCurl(delivery: Sendable, eventId: string): string {
  // The body is piped: as an argument it could be too long for the system, and curl reads a file if an argument
  // begins with @.
  const call = [
    `printf %s "$body" | curl --globoff --request POST --url ${quoted(delivery.url)}`,
    '--header "Wall-Signature: t=$t,v1=$v1"',
    '--header "webhook-id: $id"',
    '--header "webhook-timestamp: $t"',
    '--header "webhook-signature: v1,$standard"',
    ...headers(delivery, eventId).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    "--data-binary @-",
  ];
  return [
    "# Needs the event's webhook secret: WALL_SECRET=whsec_…",
    `body=${quoted(delivery.body)}`,
    `id=${quoted(delivery.id)}`,
    "t=$(date +%s)",
    "hex() { od -An -v -tx1 | tr -d ' \\n'; }",
    'mac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }',
    'key=$(printf %s "$WALL_SECRET" | hex)',
    'v1=$(printf %s "$t.$body" | mac "$key" | hex)',
    // Standard Webhooks: keyed with the bytes behind the prefix; a secret without padding is of an older form.
    'case $WALL_SECRET in *=) key=$(printf %s "${WALL_SECRET#whsec_}" | openssl base64 -d -A | hex) ;; esac',
    'standard=$(printf %s "$id.$t.$body" | mac "$key" | openssl base64 -A)',
    call.join(" \\\n  "),
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
