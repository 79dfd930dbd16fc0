// Reads and commits of several documents in one request each. Firestore's SDK reads each document of a
// transaction with a request of its own: 150 photos were more than 1,000 requests on a slow line.
// https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.documents

import { getAuth } from "firebase/auth";
import type { Firestore } from "firebase/firestore";

import { NoAnswerError } from "./errors.ts";
import { emulator, isLocal } from "./site.ts";

/** A document as it was read; null fields if it does not exist. */
export interface Read {
  readonly id: string;
  readonly fields: Readonly<Record<string, Value>> | null;
  readonly updateTime: string;
}

export interface Value {
  readonly stringValue?: string;
  readonly timestampValue?: string;
  readonly booleanValue?: boolean;
  readonly nullValue?: null;
}

/** A change of one document, refused if the document has changed since `read`. */
export interface Change {
  readonly read: Read;
  /** Null deletes the document. */
  readonly fields: Readonly<Record<string, Value>> | null;
  /** Fields that are set to the time of the commit. */
  readonly times?: readonly string[];
}

/** Firestore refused the whole request. `status` is a code such as `PERMISSION_DENIED`. */
export class CommitRefusedError extends Error {
  override readonly name = "CommitRefusedError";

  constructor(readonly status: string) {
    super(status);
  }

  get code(): string {
    return this.status.toLowerCase().replaceAll("_", "-");
  }
}

/** Codes that say nothing about the request itself. */
const TEMPORARY = new Set(["UNAVAILABLE", "RESOURCE_EXHAUSTED", "INTERNAL", "DEADLINE_EXCEEDED", "UNAUTHENTICATED", "CANCELLED"]);

/** Reads those fields of the documents in `collection`, in one request. */
export async function readAll(db: Firestore, collection: string, ids: readonly string[], fields: readonly string[], end: AbortSignal): Promise<readonly Read[]> {
  const base = root(db);
  const documents = ids.map((id) => `${base}/${collection}/${id}`);
  const found = (await request(db, "batchGet", { documents, mask: { fieldPaths: fields } }, end)) as readonly Found[];
  return found.flatMap(({ found, missing }) => {
    const name = found?.name ?? missing;
    return name ? [{ id: name.slice(name.lastIndexOf("/") + 1), fields: found ? (found.fields ?? {}) : null, updateTime: found?.updateTime ?? "" }] : [];
  });
}

/** Commits all changes, or none; rejects with a `CommitRefusedError` or a `NoAnswerError`. */
export async function commit(db: Firestore, collection: string, changes: readonly Change[], end: AbortSignal): Promise<void> {
  const base = root(db);
  const writes = changes.map(({ read, fields, times = [] }) => {
    const name = `${base}/${collection}/${read.id}`;
    const currentDocument = { updateTime: read.updateTime };
    if (!fields) return { delete: name, currentDocument };
    return {
      update: { name, fields },
      updateMask: { fieldPaths: Object.keys(fields) },
      updateTransforms: times.map((fieldPath) => ({ fieldPath, setToServerValue: "REQUEST_TIME" })),
      currentDocument,
    };
  });
  await request(db, "commit", { writes }, end);
}

interface Found {
  readonly found?: { readonly name: string; readonly fields?: Readonly<Record<string, Value>>; readonly updateTime: string };
  readonly missing?: string;
}

interface Failure {
  readonly error?: { readonly status?: string };
}

function root(db: Firestore): string {
  return `projects/${db.app.options.projectId ?? ""}/databases/(default)/documents`;
}

async function request(db: Firestore, method: string, body: object, end: AbortSignal): Promise<unknown> {
  const { host, port } = emulator("firestore");
  const address = isLocal() ? `http://${host}:${port}` : "https://firestore.googleapis.com";
  let ok: boolean;
  let answer: unknown;
  try {
    const token = await getAuth(db.app).currentUser?.getIdToken();
    const response = await fetch(`${address}/v1/${root(db)}:${method}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token ?? ""}` },
      body: JSON.stringify(body),
      cache: "no-store",
      signal: end,
    });
    ok = response.ok;
    answer = await response.json();
  } catch {
    throw new NoAnswerError("the photo", end.aborted);
  }
  if (ok) return answer;
  // An error of a streaming method is an array with one object.
  const { error } = ((Array.isArray(answer) ? answer[0] : answer) ?? {}) as Failure;
  const status = error?.status ?? "UNAVAILABLE";
  if (TEMPORARY.has(status)) throw new NoAnswerError("the photo");
  throw new CommitRefusedError(status);
}
