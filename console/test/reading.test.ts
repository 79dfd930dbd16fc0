import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { pretty, size, visible } from "../src/domain/body.ts";
import { isCallable, signingCurl } from "../src/domain/curl.ts";
import { doubt, parts, problem } from "../src/domain/endpoint.ts";
import { rateOf } from "../src/domain/health.ts";
import { countdown, duration, relative, shortTime, utcTime } from "../src/domain/time.ts";
import { verdict } from "../src/domain/verdict.ts";
import { decisionOf, decisions } from "../src/domain/photo.ts";
import { imageSources, mayShow, readHosts } from "../src/domain/hosts.ts";
import { colourProblem, logoProblem, suggestedId } from "../src/domain/event.ts";
import { recapWords, sentWords } from "../src/domain/recap.ts";
import { timeline } from "../src/domain/timeline.ts";
import { COUNTED, attemptWords, attemptsWords, lastWords, leftAloneWords } from "../src/domain/words.ts";
import { NOW, attempt, delivery } from "./samples.ts";
import { wordsOf } from "../src/ui/errors.ts";

const HOSTILE = `it's $(touch /tmp/x) \`id\` "\u202e" <b>&\\`;

test("a command sends the same body, also with hostile characters", () => {
  const hostile = delivery({ body: JSON.stringify({ name: HOSTILE }), url: "https://example.com/a'b?c=[1]&d" });
  const key = Buffer.alloc(32, 7);
  const standard = `whsec_${key.toString("base64")}`;
  const older = "whsec_of-an-older-form";
  for (const [secret, standardKey] of [[standard, key], [older, older]] as const) {
    const { body, args } = ran(signingCurl(hostile, "midsummer"), secret);
    const header = (name: string) => args.find((one) => one.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
    const mac = (by: string | Buffer, text: string) => createHmac("sha256", by).update(text);
    const t = header("webhook-timestamp");
    assert.equal(body, hostile.body);
    assert.equal(args[args.indexOf("--url") + 1], hostile.url);
    assert.ok(args.includes("Wall-Delivery-Id: d001"));
    assert.equal(header("Wall-Signature"), `t=${t},v1=${mac(secret, `${t}.${body}`).digest("hex")}`);
    assert.equal(header("webhook-signature"), `v1,${mac(standardKey, `${hostile.id}.${t}.${body}`).digest("base64")}`);
    assert.equal(header("webhook-id"), hostile.id);
  }
  assert.equal(isCallable(delivery({ url: "http://example.com/" })), false);
});

// Runs a command in a shell where `curl` shows what it got.
function ran(command: string, secret: string): { body: string; args: string[] } {
  const shell = `curl() { cat; printf '\\0%s' "$@"; }\n${command}`;
  const shown = execFileSync("bash", ["-c", shell], { env: { ...process.env, WALL_SECRET: secret } });
  const [body = "", ...args] = shown.toString().split("\0");
  return { body, args };
}

test("a URL is judged as the service does", () => {
  for (const good of ["https://example.com", "https://example.com:1024/a?b=c", "https://example.com:65535/", "https://example.com:25/", "https://user:password@example.com/", "https://straße.example", " https://example.com/ "]) {
    assert.equal(problem(good), null, good);
  }
  for (const bad of ["", "example.com", "http://example.com", "https://", "https://a b.example", "https://a.example\\@b.example/", `https://example.com/${"a".repeat(2048)}`]) {
    assert.notEqual(problem(bad), null, bad);
  }
  assert.equal(doubt("https://example.com/hook"), null);
  for (const odd of ["https://example.com:25/", "https://user:password@example.com/", "https://localhost/", "https://192.168.1.2/x", "https://[::1]/", "https://hooks.slack.com/services/T0/B0/x", "https://discord.com/api/webhooks/1/x"]) {
    assert.notEqual(doubt(odd), null, odd);
  }
  assert.deepEqual(parts("https://a.example:8443/b?key=c"), { host: "a.example:8443", path: "/b?…" });
  assert.deepEqual(parts("nonsense"), { host: "nonsense", path: "" });
});

test("a rate says what was counted, and where the counting ended", () => {
  assert.equal(rateOf({ delivered: 1, failed: 0 }), "1 of 1 delivered");
  assert.equal(rateOf({ delivered: 498, failed: 7 }), "498 of 505 delivered");
  assert.equal(rateOf({ delivered: COUNTED, failed: 7 }), "500 or more delivered, 7 failed");
  assert.equal(rateOf({ delivered: 7, failed: COUNTED }), "7 delivered, 500 or more failed");
});

test("times are in the reader's zone, and exact in UTC", () => {
  const zone = "Europe/Berlin";
  assert.equal(shortTime(NOW, NOW, zone), "20:30:00");
  assert.equal(shortTime(new Date("2026-04-30T23:30:00Z"), NOW, zone), "01:30:00");
  assert.equal(shortTime(new Date("2026-04-30T21:30:00Z"), NOW, zone), "30 Apr, 23:30:00");
  assert.match(shortTime(new Date("2025-04-30T21:30:00Z"), NOW, zone), /2025/);
  assert.equal(utcTime(NOW), "2026-05-01 18:30:00.123 UTC");
});

test("spans of time are told in two units at most", () => {
  const spans = [14, 999, 1200, 59_000, 185_000, 7_800_000, 273_600_000].map(duration);
  assert.deepEqual(spans, ["14 ms", "999 ms", "1.2 s", "59 s", "3 min 5 s", "2 h 10 min", "3 d 4 h"]);
  assert.equal(countdown(new Date(NOW.getTime() + 3100), NOW), "in 4 s");
  assert.equal(countdown(new Date(NOW.getTime() - 1), NOW), "now");
  assert.equal(relative(new Date(NOW.getTime() - 190_000), NOW), "3 min ago");
  assert.equal(relative(new Date(NOW.getTime() + 7_800_000), NOW), "in 2 h");
});

test("attempts are told in words", () => {
  assert.equal(attemptWords(attempt(1, { status: 503 })), "503 Service Unavailable");
  assert.equal(attemptWords(attempt(1, { status: 599 })), "599");
  assert.equal(attemptWords(attempt(1, { status: null, error: "no answer within 5 s" })), "no answer within 5 s");
  assert.equal(lastWords(delivery({ outcome: "skipped", reason: "the URL is disabled" })), "the URL is disabled");
  // Of a round that has only begun there is nothing to tell.
  assert.equal(lastWords(delivery({ outcome: "pending", round: 1, log: [attempt(1)] })), "");
  assert.equal(attemptsWords(delivery({ attempts: 0 })), "–");
});

test("a delivery that waits says for what", () => {
  const later = new Date(NOW.getTime() + 5_000);
  const waiting = { outcome: "pending", attempts: 0, endedAt: null } as const;
  const paced = delivery({ ...waiting, nextAttemptAt: later });
  assert.equal(lastWords(paced), "queued behind earlier deliveries");
  assert.equal(lastWords(delivery({ ...waiting, nextAttemptAt: later, slow: true })), "queued (slow endpoint)");
  assert.equal(lastWords(delivery({ ...waiting, nextAttemptAt: NOW })), "");
});

test("a timeline has the waits between the attempts of a round", () => {
  const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
  const log = [
    attempt(2, { at: later(6), ms: 500, status: 500 }),
    attempt(1, { at: NOW, ms: 5000, status: null, error: "no answer" }),
    attempt(1, { at: later(90), round: 1 }),
  ];
  const found = timeline({ log }).map(({ number, steps }) => [number, steps.map(({ waited }) => waited)]);
  assert.deepEqual(found, [[0, [null, 1000]], [1, [null]]]);
});

test("a body is for looking at: what hides in it is shown", () => {
  assert.equal(pretty('{"a":1}'), '{\n  "a": 1\n}');
  assert.equal(pretty("{"), null);
  assert.equal(visible('"\u202egpj.exe\u200b"\n'), '"\\u202egpj.exe\\u200b"\n');
  assert.deepEqual([size("ü"), size("a".repeat(1500)), size("a".repeat(2_100_000))], ["2 bytes", "1.5 kB", "2.1 MB"]);
});

test("numbers of deliveries that are left out add up", () => {
  assert.equal(
    leftAloneWords({ removedUrl: 0, disabledUrl: 2, unusableUrl: 0, tests: 1 }),
    "2 to a disabled endpoint; 1 test",
  );
});

test("a mail that may not lead to this site says who can mend it", () => {
  assert.match(wordsOf({ code: "auth/unauthorized-continue-uri" }), /administrator/);
});

test("a delivery says whose turn it is", () => {
  const failed = (fields: object) => verdict(delivery({ outcome: "failed", log: [attempt(1, { status: null, ...fields })] }));
  assert.deepEqual(failed({ status: 503 }), {
    turn: "receiver",
    words:
      "The endpoint answered 503 Service Unavailable. The endpoint is overloaded or in maintenance. " +
      "No more automatic retries. Resend it once the problem is fixed.",
  });
  for (const error of ["the connection was refused", "the host name does not resolve", "the certificate is not valid: expired"]) {
    assert.equal(failed({ error })?.turn, "receiver");
    assert.doesNotMatch(failed({ error })?.words ?? "", /couldn't be reached: /);
  }
  assert.match(verdict(delivery({ outcome: "failed", log: [attempt(1, { status: 503 })] }), true)?.words ?? "", /resent automatically once the problem is fixed[.]$/);
  assert.equal(verdict(delivery({ outcome: "skipped", reason: "the URL is disabled" }))?.turn, "organizer");
  const stopped = (reason: string) => verdict(delivery({ outcome: "skipped", reason, log: [attempt(1, { status: 503 })] }))?.words ?? "";
  assert.match(stopped("the URL was removed"), /^No more attempts: the URL was removed[.] Add the URL/);
  assert.match(stopped("the URL no longer takes this event type"), /^No more attempts: .* Resend this/);
  assert.equal(verdict(delivery({ outcome: "pending", log: [] })), null);
});

test("a key does what can be done with a photo, and nothing else", () => {
  const keys = (status: "pending" | "approved" | "rejected", featured = false) =>
    [..."arftx", "Delete"].map((key) => decisionOf(key, { status, featured }));
  assert.deepEqual(keys("pending"), ["approve", "reject", null, "reject", null, "delete"]);
  assert.deepEqual(keys("approved"), [null, "reject", "feature", "reject", null, "delete"]);
  assert.deepEqual(keys("approved", true), [null, "reject", "unfeature", "reject", null, "delete"]);
  assert.deepEqual(keys("rejected"), ["approve", null, null, null, null, "delete"]);
  assert.deepEqual(decisions({ status: "pending", featured: false })[0], "approve");
});

test("pictures come from the hosts of the parameter alone", () => {
  const hosts = readHosts("project, cdn.example.com, storage.example.com/photos/", "wall");
  for (const good of [
    "https://firebasestorage.googleapis.com/v0/b/wall.appspot.com/o/a.jpg?alt=media",
    "https://cdn.example.com/a.jpg",
    "https://storage.example.com/photos/a.jpg",
  ]) assert.ok(mayShow(good, hosts), good);
  for (const bad of [
    "http://cdn.example.com/a.jpg",
    "https://cdn.example.com.evil.example/a.jpg",
    "https://cdn.example.com@evil.example/a.jpg",
    "https://user@cdn.example.com/a.jpg",
    "https://storage.example.com/photos/../private/a.jpg",
    "https://firebasestorage.googleapis.com/v0/b/another.appspot.com/o/a.jpg",
    "data:image/png;base64,AA",
    "nonsense",
  ]) assert.ok(!mayShow(bad, hosts), bad);
  assert.ok(mayShow("http://127.0.0.1:9180/1.svg", readHosts("*", "wall")));
  assert.match(imageSources(hosts), /^https:\/\/firebasestorage\.googleapis\.com\/v0\/b\/wall\.firebasestorage\.app\/o\/ .*https:\/\/cdn\.example\.com /);
});

test("an id is suggested by the name", () => {
  assert.equal(suggestedId("  Anna & Björn 2026! ", NOW), "anna-bjorn-2026");
  assert.equal(suggestedId("誕生日", NOW), "event-2026-05-01");
  assert.equal(suggestedId(" ", NOW), "");
});

test("a logo is on https, and a colour has six digits", () => {
  const logos = ["", "https://example.com/logo.png", "http://example.com/logo.png", "https://", `https://example.com/${"x".repeat(1981)}`];
  assert.deepEqual(logos.map((logo) => !logoProblem(logo)), [true, true, false, false, false]);
  assert.deepEqual(["", "#FFD60A", "#fff", "red", "#0b1f4d;"].map((colour) => !colourProblem(colour)), [true, true, false, false, false]);
});

test("what a recap came to is told in words", () => {
  const told = { delivered: 8, bounced: 1, dropped: 0, complained: 1 };
  assert.equal(
    recapWords({ state: "sent", sent: 10, left: 0, told }),
    "8 delivered (1 marked as spam), 1 bounced, 1 pending.",
  );
  assert.equal(recapWords({ state: "sent", sent: 2, left: 0, told: null }), "2 emails sent.");
  const accepted = recapWords({ state: "sent", sent: 2, left: 0, told: null, byMailServer: true });
  assert.equal(accepted, "2 emails accepted by the mail server.");
  assert.equal(sentWords({ sent: 2, skipped: 1 }), "2 emails were sent, 1 guest was skipped.");
  assert.equal(sentWords({ sent: 1 }), "1 email was sent.");
});
