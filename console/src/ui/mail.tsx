import { useEffect, useRef } from "preact/hooks";

// What a mail may consist of; everything else of it is left out, with what stands in it kept.
const KEPT = new Set(
  "a abbr b blockquote br center code div em figcaption figure h1 h2 h3 h4 hr i img li ol p pre small span strong table tbody td th thead tr u ul".split(" "),
);
const DROPPED = new Set("script style title head link meta object embed iframe form input button svg math template noscript base".split(" "));
// What stands for `style` until it is set.
const LOOK = "data-look";
const ATTRIBUTES = new Set("align bgcolor border cellpadding cellspacing colspan dir height lang rowspan valign width".split(" "));

/**
 * A mail, drawn in a tree of its own. It was made by the service of what guests wrote, and is taken
 * apart all the same: only known elements are made anew, so nothing in it runs, loads or leads away.
 * Its styles are set by the object model, which this page's policy lets pass, unlike markup's.
 */
export function Mail({ html }: { readonly html: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const { rules, markup } = withoutStyles(html);
    const sheet = new CSSStyleSheet();
    // Nothing is loaded: neither another sheet nor a picture.
    sheet.replaceSync(rules.replace(/@import[^;]*;?|url\([^)]*\)/gi, ""));
    const parsed = new DOMParser().parseFromString(markup, "text/html");
    root.adoptedStyleSheets = [sheet];
    root.replaceChildren(...copied(parsed.body));
  }, [html]);
  return <div class="mail" ref={frame} role="group" tabIndex={0} aria-label="The mail" />;
}

// The policy has a browser complain of each style that it parses, also where nothing is drawn by it.
function withoutStyles(html: string) {
  const rules: string[] = [];
  const markup = html
    .replace(/<style[^>]*>([\s\S]*?)<\/style\s*>/gi, (_, text: string) => {
      rules.push(text);
      return "";
    })
    .replace(/<[a-z](?:[^>"']|"[^"]*"|'[^']*')*>/gi, (tag) => tag.replace(/\sstyle=/gi, ` ${LOOK}=`));
  return { rules: rules.join("\n"), markup };
}

function copied(from: Element): Node[] {
  return Array.from(from.childNodes).flatMap((node): Node[] => {
    if (node instanceof Text) return [document.createTextNode(node.data)];
    if (!(node instanceof HTMLElement)) return [];
    const name = node.localName;
    if (DROPPED.has(name)) return [];
    if (!KEPT.has(name)) return copied(node);
    if (name === "img") return [placeholder(node)];
    const made = document.createElement(name === "a" ? "span" : name);
    for (const { name: attribute, value } of node.attributes) {
      if (ATTRIBUTES.has(attribute)) made.setAttribute(attribute, value);
    }
    styled(made, node);
    if (name === "a") {
      made.title = node.getAttribute("href") ?? "";
      made.style.textDecoration ||= "underline";
    }
    made.append(...copied(node));
    return [made];
  });
}

// Pictures are guests' photos on other hosts, to which this page does not talk.
function placeholder(image: HTMLElement): HTMLElement {
  const made = document.createElement("span");
  made.textContent = image.getAttribute("alt") || "photo";
  made.style.cssText =
    "display:inline-flex;align-items:center;justify-content:center;min-width:8rem;min-height:6rem;" +
    "padding:0.5rem;background:#e9edeb;color:#4d5753;border-radius:0.4rem;font-size:0.8rem";
  return made;
}

function styled(made: HTMLElement, from: HTMLElement) {
  made.className = from.className;
  const text = (from.getAttribute(LOOK) ?? "").replace(/url\([^)]*\)/gi, "none");
  made.style.cssText = text;
  if (/fixed|sticky/.test(made.style.position)) made.style.position = "static";
}
