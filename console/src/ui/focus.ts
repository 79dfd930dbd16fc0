// A button may go away with what it has done. The focus then goes to the nearest thing of the view that can
// have it, and not to the beginning of the page. A view that is new takes the focus by its heading.

const FOCUSABLE = "button, a[href], input, select, textarea, [tabindex]";

// What was focused last, and what of the view it stood in, from inside out.
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
