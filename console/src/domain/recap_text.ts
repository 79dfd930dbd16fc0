// The texts that an organizer writes for a recap (spec 4.1).

// generated: texts of a recap (python3 -m emulator generate)
export const RECAP_TEXTS = {
  subject: { characters: 200, hasLines: false },
  message: { characters: 4000, hasLines: true },
} as const;
// end of texts of a recap
export type TextName = keyof typeof RECAP_TEXTS;
/** The texts; a text that wasn't entered is empty. */
export type RecapTexts = Readonly<Record<TextName, string>>;
export const TEXT_NAMES = Object.keys(RECAP_TEXTS) as readonly TextName[];

export const TEXT_LABELS: RecapTexts = {
  subject: "Subject",
  message: "Personal message",
};

/** Returns the texts that `read` returns by name. */
export function recapTexts(read: (name: TextName) => string): RecapTexts {
  return Object.fromEntries(TEXT_NAMES.map((name) => [name, read(name)])) as unknown as RecapTexts;
}

/** Returns the texts that were entered, as a call has them. */
export function enteredTexts(texts: RecapTexts): Partial<RecapTexts> {
  return Object.fromEntries(TEXT_NAMES.filter((name) => texts[name]).map((name) => [name, texts[name]]));
}
