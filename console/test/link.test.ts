import assert from "node:assert/strict";
import { test } from "node:test";

import { forwardedLink, readParameters } from "../src/domain/link.ts";

const TOKEN = "eyJ1aWQiOiJndWVzdC0xIn0.2ApwYMj8-_k";

test("a token arrives however an email gateway has encoded its link", () => {
  for (const part of [
    `#token=${TOKEN}`,
    `?token=${TOKEN}`,
    `#token%3D${TOKEN}`,
    `#token%3d${TOKEN}`,
    `?token%3D${TOKEN}`,
    `#%23token=${TOKEN}`,
    `#%23token%3D${TOKEN}`,
    `?%23token%3D${TOKEN}`,
    `#token%253D${TOKEN}`,
    `#%2523token%253D${TOKEN}`,
  ]) {
    assert.equal(readParameters(part).get("token"), TOKEN, part);
  }
  assert.equal(readParameters(`#unsubscribe%3D${TOKEN}`).get("unsubscribe"), TOKEN);
});

test("names beside a token keep their characters", () => {
  const names = { token: TOKEN, event: "Ann & Bob = 100%", receiver: "a#b" };
  const fragment = new URLSearchParams(names).toString();
  for (const part of [fragment, encodeURIComponent(fragment), encodeURIComponent(encodeURIComponent(fragment))]) {
    assert.deepEqual(Object.fromEntries(readParameters(`#${part}`)), names, part);
  }
  assert.deepEqual(Object.fromEntries(readParameters("#100%")), { "100%": "" });
});

test("an encoded link leads to its page, with the token in the fragment", () => {
  for (const [path, link] of [
    [`/preferences%23token=${TOKEN}`, `/preferences#token=${TOKEN}`],
    [`/preferences%23token%3D${TOKEN}`, `/preferences#token=${TOKEN}`],
    [`/preferences%3Ftoken=${TOKEN}`, `/preferences#token=${TOKEN}`],
    [`/preferences/%23token%3d${TOKEN}`, `/preferences#token=${TOKEN}`],
    [`/preferences%2523token%253D${TOKEN}`, `/preferences#token=${TOKEN}`],
    [`/preferences%23unsubscribe%3D${TOKEN}`, `/preferences#unsubscribe=${TOKEN}`],
    [`/unsubscribe%3Ftoken%3D${TOKEN}`, `/preferences#unsubscribe=${TOKEN}`],
    [`/deliveries%23token=${TOKEN}&event=A%26B`, `/deliveries#token=${TOKEN}&event=A%26B`],
    [`/deliveries%23token%3D${TOKEN}%26event%3DA%2526B`, `/deliveries#token=${TOKEN}&event=A%26B`],
    ["/console%23/events/e1/recap", "/console#/events/e1/recap"],
    ["/console%23%2Fevents%2Fe1%2Frecap", "/console#/events/e1/recap"],
  ] as const) {
    assert.equal(forwardedLink(path), link, path);
  }
});

test("no other address leads anywhere", () => {
  for (const path of ["/", "/nowhere", "/preferences", "//evil.example%23token=a", "/preferences%23", "/a/b%23token=a", "/%23token=a"]) {
    assert.equal(forwardedLink(path), null, path);
  }
});
