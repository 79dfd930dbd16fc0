import assert from "node:assert/strict";
import { test } from "node:test";

import { linkTo, linkToDelivery, linkToPhotos, readRoute, writeRoute } from "../src/domain/address.ts";
import { nameOf, named } from "../src/domain/endpoint.ts";
import { NO_FILTERS, matches, queryOf, readFilters, writeFilters } from "../src/domain/filters.ts";

const NOW = new Date("2026-05-01T18:30:00Z");
const URL_WITH_KEY = "https://hooks.example.com/in?key=a-secret-key";

test("a view is the same after its address was sent to somebody", () => {
  const filters = {
    outcome: "failed",
    event: "photo.uploaded",
    endpoint: nameOf(URL_WITH_KEY),
    period: null,
    from: new Date("2026-05-01T10:00:00.000Z"),
    until: new Date("2026-05-01T11:00:00.000Z"),
  } as const;
  for (const deliveryId of [null, "0f7c"]) {
    const route = { at: "deliveries", eventId: "midsummer", filters, deliveryId, status: "pending" } as const;
    assert.deepEqual(readRoute(writeRoute(route)), route);
  }
  const route = readRoute(linkTo("recaps", "midsummer"));
  assert.deepEqual(route, { at: "recaps", eventId: "midsummer", filters: NO_FILTERS, deliveryId: null, status: "pending" });
  const photos = readRoute(linkToPhotos("midsummer", "rejected"));
  assert.equal(photos.at === "photos" && photos.status, "rejected");
});

test("an address that makes no sense leads to the start, or to a view without filters", () => {
  for (const odd of ["", "#", "#/", "#/nowhere", "#/events//endpoints", "#/events/e1/secrets", "#/events/%", "#/events/a/deliveries/b/c"]) {
    assert.deepEqual(readRoute(odd), { at: "events" }, odd);
  }
  const odd = "outcome=lost&type=photo.lost&period=1y&from=yesterday&until=2026-99-99T00:00:00Z&to=";
  assert.deepEqual(readFilters(new URLSearchParams(odd)), NO_FILTERS);
  assert.equal(readFilters(new URLSearchParams("period=constructor")).period, null);
});

test("names of people's making stay names", () => {
  const id = "a/b?c#d%25 ü";
  const route = readRoute(linkToDelivery("e1", id));
  assert.equal(route.at !== "events" && route.deliveryId, id);
});

test("a given time replaces a period", () => {
  const both = readFilters(new URLSearchParams("period=1h&from=2026-05-01T10:00:00Z"));
  assert.equal(both.period, null);
  assert.equal(writeFilters({ ...NO_FILTERS, period: "1h", from: NOW }).has("period"), false);
});

test("an address never holds a URL, which may hold a key", () => {
  const name = nameOf(URL_WITH_KEY);
  assert.match(name, /^hooks\.example\.com~[0-9a-z]+$/);
  assert.equal(named(name, ["https://hooks.example.com/in?key=another", URL_WITH_KEY]), URL_WITH_KEY);
  assert.equal(named(name, ["https://hooks.example.com/in"]), null);
  assert.match(nameOf("no address <at> all"), /^[a-z0-9.-]+~[0-9a-z]+$/);
});

test("the service gives the same names", () => {
  const names = {
    "https://hooks.example.com/services/T0/B0/hush?key=1": "hooks.example.com~94e1",
    "https://EXAMPLE.com:8443/hook": "example.com~feba",
    "https://straße.example/ключ/🎉": "xn--strae-oqa.example~251c",
    "https://user:hush@example.com/hook": "url~fbdf",
    "": "url~8d83",
  };
  for (const [url, name] of Object.entries(names)) assert.equal(nameOf(url), name);
});

test("filters become a query", () => {
  const filters = { ...NO_FILTERS, outcome: "failed", event: "guest.joined", period: "24h" } as const;
  const query = queryOf(filters, URL_WITH_KEY, NOW);
  assert.deepEqual(query, {
    equal: { outcome: "failed", event: "guest.joined", url: URL_WITH_KEY },
    from: new Date("2026-04-30T18:30:00Z"),
    until: null,
  });
  const delivery = { outcome: "failed", event: "guest.joined", url: URL_WITH_KEY };
  assert.equal(matches(query, delivery), true);
  assert.equal(matches(query, { ...delivery, outcome: "success" }), false);
  assert.deepEqual(queryOf(NO_FILTERS, null, NOW), { equal: {}, from: null, until: null });
});
