// Builds the pages into ../public, as a deploy does: `node build.mjs`. With `--site FOLDER` into that folder, which
// gets a copy of what is committed in ../public, and keeps what else is in it: the local suite has a site of its own,
// with the catalog that Python builds. With --tests, the tests into ../.emulator.

import { cp, readFile, readdir, rm, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "..");
const PUBLIC = join(ROOT, "public");
const SITE = process.argv[2] === "--site" ? resolve(process.argv[3]) : PUBLIC;
const CATALOGS = join(ROOT, "functions", "mail", "catalogues");
const ASSETS = join(SITE, "app");
const TESTS = join(ROOT, ".emulator", "console-tests");

/** Of all scripts of the console on the wire, gzipped. */
const CONSOLE_BYTES = 190_000;

// Where the emulators are, of which only a page on this machine makes use.
const { emulators } = JSON.parse(await readFile(join(ROOT, "firebase.json"), "utf8"));
const addresses = Object.fromEntries(
  ["auth", "firestore", "functions", "hosting"].map((name) => [
    name,
    { host: emulators[name].host, port: emulators[name].port },
  ]),
);

// Which pictures the console may load: those that mails may show. As firebase-tools reads parameters:
// the project's own file beside the general one.
const project = process.env.GCLOUD_PROJECT ?? "demo-wall";
const photoHosts = await parameter("PHOTO_HOSTS");

const languages = (await readdir(CATALOGS)).map((name) => basename(name, ".po"));

const OPTIONS = {
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: {
    __EMULATORS__: JSON.stringify(addresses),
    __LANGUAGES__: JSON.stringify(["en", ...languages].sort()),
  },
  logLevel: "warning",
  legalComments: "eof",
  plugins: [{ name: "no-pipelines", setup: leaveOutPipelines }],
};

if (process.argv.includes("--tests")) await buildTests();
else {
  if (SITE !== PUBLIC) await cp(PUBLIC, SITE, { recursive: true });
  await Promise.all([buildPages(), buildTexts(), buildFiles()]);
}

// Firestore evaluates pipelines in the browser, which the console never runs. Without this function, esbuild drops the
// evaluators, and the regular expressions that they use: 5 kB, and 46 kB.
function leaveOutPipelines({ onLoad }) {
  onLoad({ filter: /@firebase.firestore.dist.common-\w+\.esm\.js$/ }, async ({ path }) => {
    const text = await readFile(path, "utf8");
    const contents = text.replace(/^(function __PRIVATE_toEvaluable\(\w+\) \{)\n.*?^\}/ms, '$1 throw new Error("no pipelines"); }');
    if (contents === text) throw new Error(`${path} has no __PRIVATE_toEvaluable: check how Firestore evaluates pipelines`);
    return { contents, loader: "js" };
  });
}

async function parameter(name) {
  const texts = await Promise.all(
    [".env", `.env.${project}`].map((file) => readFile(join(ROOT, file), "utf8").catch(() => "")),
  );
  const found = texts.join("\n").matchAll(new RegExp(`^${name}=(.*)$`, "gm"));
  return [...found].at(-1)?.[1]?.trim().replace(/^(["'])(.*)\1$/, "$2") ?? "";
}

async function buildPages() {
  const entries = ["src/console.tsx", "src/receiver.tsx", "src/styles/app.css"];
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: entries,
    outdir: ASSETS,
    // The name changes with the content: a page and what it loads are always of one build.
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    // Beside the scripts: a browser needs none of them.
    legalComments: "linked",
    minify: true,
    metafile: true,
    write: false,
  });
  const { imageSources, readHosts } = await hosts();
  const shown = readHosts(photoHosts, project);
  const names = {
    "photo hosts": shown.join(" "),
    "image sources": imageSources(shown) + local(" http://127.0.0.1:*"),
    "own functions": ownFunctions(project),
  };
  for (const [path, { entryPoint, imports }] of Object.entries(metafile.outputs)) {
    if (!entryPoint) continue;
    names[basename(entryPoint)] = basename(path);
    // Chunks that are loaded with the page, without those that it loads when it needs them.
    names[`chunks of ${basename(entryPoint)}`] = imports
      .filter(({ kind }) => kind === "import-statement")
      .map(({ path: chunk }) => basename(chunk));
  }
  const scripts = outputFiles.filter(({ path }) => path.endsWith(".js") && !basename(path).startsWith("receiver"));
  const bytes = scripts.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  if (bytes > CONSOLE_BYTES) throw new Error(`the console's scripts come to ${bytes} bytes; ${CONSOLE_BYTES} are the most`);
  await rm(ASSETS, { recursive: true, force: true });
  await mkdir(ASSETS, { recursive: true });
  await Promise.all(outputFiles.map(({ path, contents }) => writeFile(path, contents)));
  for (const page of await readdir(join(HERE, "pages"))) {
    const text = await readFile(join(HERE, "pages", page), "utf8");
    await writeFile(join(SITE, page), filled(text, names));
  }
}

// Files that stand alone: the script of the page for other addresses, what it and the preferences page read links with, the script of the catalog of event types, whose page is made of docs/openapi.yaml,
// the script of a mail's frame, which has no origin to load modules by, and the colours of all pages.
async function buildFiles() {
  const entries = ["src/404.ts", "src/domain/link.ts", "src/events.ts", "src/mail_frame.ts", "src/styles/colours.css"];
  await build({ ...OPTIONS, entryPoints: entries, entryNames: "[name]", outdir: SITE, minify: true });
}

// The texts of the preferences page, a file for each language, from the catalogs of the emails.
async function buildTexts() {
  const sources = ["preferences.html", "preferences.js"].map((name) => join(PUBLIC, name));
  const files = await Promise.all(sources.map((path) => readFile(path, "utf8")));
  const page = files.join("\n").replace(/\s+/g, " ");
  for (const language of languages) {
    const catalog = await readFile(join(CATALOGS, `${language}.po`), "utf8");
    const texts = [...catalog.matchAll(/^msgid (".+")\nmsgstr (".+")$/gm)]
      .map(([, english, translation]) => [JSON.parse(english), JSON.parse(translation)])
      .filter(([english]) => page.includes(english));
    await writeFile(join(SITE, `preferences.${language}.json`), JSON.stringify(Object.fromEntries(texts)));
  }
}

// `{{name}}` becomes the address of that entry, or a text of that name; `{{chunks of name}}` links that
// load its parts early.
function filled(text, names) {
  return text.replace(/( *)\{\{(.+?)\}\}\n?|\{\{(.+?)\}\}/g, (found, indent, block, inline) => {
    const name = block ?? inline;
    const value = names[name];
    if (value === undefined) throw new Error(`nothing is called ${name}`);
    if (Array.isArray(value)) {
      return value.map((one) => `${indent}<link rel="modulepreload" href="/app/${one}">\n`).join("");
    }
    return found.replace(`{{${name}}}`, name.includes(".") ? `/app/${value}` : value);
  });
}

// Beside the headers, which name no project: the functions of other projects are out of reach.
function ownFunctions(project) {
  return `https://us-central1-${project}.cloudfunctions.net${local(" http://127.0.0.1:*")}`;
}

// What a page of the local suite may load besides.
function local(source) {
  return project.startsWith("demo-") ? source : "";
}

// What the page itself goes by, so that its policy says the same.
async function hosts() {
  const { outputFiles } = await build({ ...OPTIONS, entryPoints: ["src/domain/hosts.ts"], write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

async function buildTests() {
  const tests = (await readdir(join(HERE, "test"))).filter((name) => name.endsWith(".test.ts"));
  await rm(TESTS, { recursive: true, force: true });
  await build({
    ...OPTIONS,
    entryPoints: tests.map((name) => join("test", name)),
    outdir: TESTS,
    outExtension: { ".js": ".mjs" },
    platform: "node",
  });
}
