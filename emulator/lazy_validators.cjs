// Loaded before firebase-tools. Its emulator of Auth has a schema for each call of Google's, and compiles all of them at its
// start, which takes six seconds of CPU. With this option the library compiles a schema at the first call that needs it.
"use strict";

const exegesis = require("exegesis-express");

const { middleware } = exegesis;

exegesis.middleware = (document, options) =>
  middleware(document, { ...options, lazyCompileValidationSchemas: true });
