// A button may go away with what it has done. The focus then goes to the nearest thing that can have it,
// and not to the beginning of the page.

const FOCUSABLE = "button, a[href], input, select, textarea, [tabindex]";

// The element that was focused last, with what it stood in, from inside out.
let path: readonly Element[] = [];

function remember({ target }: FocusEvent): void {
  const found: Element[] = [];
  for (let element = target as Element | null; element && element !== document.body; element = element.parentElement) found.push(element);
  path = found;
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
