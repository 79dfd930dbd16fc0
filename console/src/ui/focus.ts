// An action may remove its own button. The focus then moves to the nearest element that can have it, and not to the
// beginning of the page. In a new view the heading gets the focus.

const FOCUSABLE = "button, a[href], input, select, textarea, [tabindex]";

// The last focused element and its ancestors in the view, from the inside out.
let path: readonly HTMLElement[] = [];

function remember({ target }: FocusEvent): void {
  const found: HTMLElement[] = [];
  let element = target as HTMLElement | null;
  while (element && element.localName !== "main") {
    found.push(element);
    element = element.parentElement;
  }
  path = element ? found : [];
}

function recover(): void {
  if (document.activeElement !== document.body || !path[0] || path[0].isConnected) return;
  const near = path.filter((element) => element.isConnected).map((element) => element.querySelector<HTMLElement>(FOCUSABLE)).find(Boolean);
  path = [];
  near?.focus({ preventScroll: true });
}

/** Keeps the focus of this page from being lost, from now on. */
export function keepFocus(): void {
  addEventListener("focusin", remember);
  new MutationObserver(recover).observe(document.body, { childList: true, subtree: true });
}
