// Decisions that the server has not confirmed, shown if the session ends before that. Apart from
// the decisions, which need Firestore, so that the sign-in can say it.

let open: readonly string[] = [];

export function keepOpenWork(words: readonly string[]): void {
  open = words;
}

/** Each in words: `Approve: photo of Ann`. */
export function openWork(): readonly string[] {
  return open;
}
