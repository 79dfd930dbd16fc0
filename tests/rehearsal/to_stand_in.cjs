"use strict";
// Sends a program's requests for Google's hosts to the server at STAND_IN_FOR_GOOGLE, with the true
// host in the header `True-Host`. Every other socket that leaves this machine is refused. The server
// that reads main.py's functions listens on MANIFEST_PORT.
const Module = require("module");
const net = require("net");

const standIn = process.env.STAND_IN_FOR_GOOGLE;
const google = /(^|\.)(googleapis\.com|cloudfunctions\.net)$/;
const local = new Set(["127.0.0.1", "::1", "localhost"]);

const load = Module._load;
Module._load = (name, parent, isMain) => {
  // No test deploys Data Connect. Its modules are a third of firebase-tools' start.
  if (name === "./dataconnect" && parent.filename.endsWith("/lib/deploy/index.js")) return {};
  const loaded = load(name, parent, isMain);
  if (name !== "portfinder") return loaded;
  // firebase-tools finds a free port from 8081 and binds it later. Two deploys can find the same.
  const port = Number(process.env.MANIFEST_PORT);
  return { ...loaded, getPortPromise: () => loaded.getPortPromise({ port }) };
};

const fetchOfNode = globalThis.fetch;
globalThis.fetch = async (resource, options = {}) => {
  const url = new URL(resource.url ?? resource);
  if (local.has(url.hostname)) return fetchOfNode(resource, options);
  if (!google.test(url.hostname)) throw new Error(`refused: ${url.hostname}`);
  const headers = new Headers(options.headers);
  headers.set("True-Host", url.hostname);
  return fetchOfNode(standIn + url.pathname + url.search, { ...options, headers });
};

const connectOfNode = net.Socket.prototype.connect;
net.Socket.prototype.connect = function connect(...given) {
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  const host = options?.host ?? (typeof given[1] === "string" ? given[1] : "localhost");
  if (options?.path || local.has(host)) return connectOfNode.apply(this, given);
  process.nextTick(() => this.destroy(new Error(`refused: ${host}`)));
  return this;
};
