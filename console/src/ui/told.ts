// A confirmation that the next view shows once: the view that it is about is gone.

let told = "";

export function tellOnce(words: string): void {
  told = words;
}

export function takeTold(): string {
  const words = told;
  told = "";
  return words;
}
