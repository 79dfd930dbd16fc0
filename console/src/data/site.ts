// The page's project, and the address of its functions.

interface Address {
  readonly host: string;
  readonly port: number;
}

// Put in by the build, from firebase.json.
declare const __EMULATORS__: Readonly<Record<"auth" | "firestore" | "functions" | "hosting", Address>>;
const REGION = "us-central1";

/** Whether the local suite serves the page. */
export function isLocal(): boolean {
  return ["127.0.0.1", "localhost"].includes(location.hostname);
}

/** The address of an emulator. If the local suite's ports are moved, they are all moved as far as this page's. */
export function emulator(name: "auth" | "firestore" | "functions"): Address {
  const { host, port } = __EMULATORS__[name];
  return { host, port: moved(port) };
}

function moved(port: number): number {
  return port + Number(location.port) - __EMULATORS__.hosting.port;
}

/** Returns the text with pictures that load: the local suite's mailbox draws the pictures of the sample bucket. */
export function withPictures(text: string): string {
  return isLocal() ? text.replaceAll("https://firebasestorage.googleapis.com/v0/b/demo-wall.firebasestorage.app/o/", `http://127.0.0.1:${moved(9180)}/pictures/`) : text;
}

export interface ProjectConfig {
  readonly projectId: string;
  readonly [name: string]: string;
}

/** The project's configuration from Hosting; rejects if the project has no web app registered. */
export async function projectConfig(): Promise<ProjectConfig> {
  const answer = await fetch("/__/firebase/init.json");
  if (!answer.ok) throw new NoProjectError();
  const found: unknown = await answer.json().catch(() => null);
  if (!isConfig(found)) throw new NoProjectError();
  return found;
}

export class NoProjectError extends Error {
  override readonly name = "NoProjectError";
}

/** Where the functions are called. */
export async function functionsAddress(): Promise<string> {
  const { projectId } = await projectConfig();
  if (!/^[a-z0-9-]+$/.test(projectId)) throw new NoProjectError();
  if (isLocal()) {
    const { host, port } = emulator("functions");
    return `http://${host}:${port}/${projectId}/${REGION}`;
  }
  return `https://${REGION}-${projectId}.cloudfunctions.net`;
}

function isConfig(value: unknown): value is ProjectConfig {
  return typeof value === "object" && value !== null && "projectId" in value;
}
