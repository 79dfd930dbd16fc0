import assert from "node:assert/strict";
import { test } from "node:test";

import { linkTo, isOpenTo, readRoute, writeRoute } from "../src/domain/address.ts";
import { keyOf, nameOf } from "../src/domain/endpoint.ts";
import { NO_FILTERS, beginning, readFilters, writeFilters } from "../src/domain/filters.ts";

const NOW = new Date("2026-05-01T18:30:00Z");

test("a view is the same after its address was sent to somebody", () => {
  const filters = {
    outcome: "failed",
    event: "photo.uploaded",
    period: null,
    from: new Date("2026-05-01T10:00:00.000Z"),
    until: new Date("2026-05-01T11:00:00.000Z"),
  } as const;
  for (const deliveryId of [null, "0f7c"]) {
    for (const endpointId of [null, "k3v9"]) {
      const route = { at: "receivers", eventId: "midsummer", filters, deliveryId, endpointId, status: "pending" } as const;
      assert.deepEqual(readRoute(writeRoute(route)), route);
    }
  }
  const photos = readRoute(linkTo("photos", "midsummer", { status: "rejected" }));
  assert.equal(photos.at === "photos" && photos.status, "rejected");
});

test("a delivery has an address without its receiver", () => {
  const delivery = readRoute("#/events/e1/deliveries/0f7c");
  assert.equal(delivery.at === "receivers" && delivery.deliveryId, "0f7c");
});

test("a room that somebody cannot use is not there", () => {
  assert.deepEqual([isOpenTo("moderator", "receivers"), isOpenTo("admin", "receivers"), isOpenTo("moderator", "recap")], [false, true, true]);
});

test("an address that makes no sense leads to the start, or to a view without filters", () => {
  for (const odd of ["", "#", "#/", "#/nowhere", "#/events//receivers", "#/events/e1/secrets", "#/events/e1/constructor", "#/events/%", "#/events/a/deliveries/b/c"]) {
    assert.deepEqual(readRoute(odd), { at: "events" }, odd);
  }
  const odd = "outcome=lost&type=photo.lost&period=1y&from=yesterday&until=2026-99-99T00:00:00Z&to=";
  assert.deepEqual(readFilters(new URLSearchParams(odd)), NO_FILTERS);
  assert.equal(readFilters(new URLSearchParams("period=constructor")).period, null);
});

test("names of people's making stay names", () => {
  const id = "a/b?c#d%25 ü";
  const route = readRoute(linkTo("receivers", "e1", { deliveryId: id }));
  assert.equal(route.at === "receivers" && route.deliveryId, id);
});

test("a given time replaces a period", () => {
  const both = readFilters(new URLSearchParams("period=1h&from=2026-05-01T10:00:00Z"));
  assert.equal(both.period, null);
  assert.equal(writeFilters({ ...NO_FILTERS, period: "1h", from: NOW }).has("period"), false);
});

test("the service gives the same names", async () => {
  const names = {
    "https://hooks.example.com/services/T0/B0/hush?key=1": "hooks.example.com~9f0a",
    "https://EXAMPLE.com:8443/hook": "example.com~16f9",
    "https://straße.example/ключ/🎉": "xn--strae-oqa.example~fc89",
    "https://user:hush@example.com/hook": "example.com~781b",
    "": "url~e3b0",
  };
  for (const [url, name] of Object.entries(names)) assert.equal(await nameOf(url), name);
  assert.match(await keyOf("https://example.com/"), /^u[0-9a-f]{32}$/);
});

test("a period begins so long before the list was opened", () => {
  assert.deepEqual(beginning({ ...NO_FILTERS, period: "24h" }, NOW), new Date("2026-04-30T18:30:00Z"));
  assert.equal(beginning(NO_FILTERS, NOW), null);
});
