import { useEffect, useRef } from "preact/hooks";

import { PHONE, type Screen, holds } from "../domain/media.ts";
import { isShown } from "./picture.tsx";

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
 * apart all the same: only known elements are made anew, so nothing in it runs or leads away, and
 * nothing loads but pictures of the hosts that mails may show.
 * Its styles are set by the object model, which this page's policy lets pass, unlike markup's.
 */
export function Mail({ html, screen }: { readonly html: string; readonly screen: Screen }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const { rules, markup } = withoutStyles(html);
    const sheet = new CSSStyleSheet();
    // Nothing is loaded by it: neither another sheet nor a picture.
    sheet.replaceSync(rules.replace(/@import[^;]*;?|url\([^)]*\)/gi, ""));
    sheet.replaceSync(`:host { color-scheme: ${screen.scheme} }\n${shown(sheet.cssRules, screen)}`);
    const parsed = new DOMParser().parseFromString(markup, "text/html");
    root.adoptedStyleSheets = [sheet];
    root.replaceChildren(...copied(parsed.body));
  }, [html, screen.width, screen.scheme]);
  const looks = `mail ${screen.scheme}${screen.width === PHONE ? " phone" : ""}`;
  return <div class={looks} ref={frame} role="group" tabIndex={0} aria-label="The mail" />;
}

// The rules as they are on that screen: a media query asks the window, which is another.
function shown(rules: CSSRuleList, screen: Screen): string {
  return Array.from(rules, (rule) => {
    if (!(rule instanceof CSSMediaRule)) return rule.cssText;
    return holds(rule.conditionText, screen) ? shown(rule.cssRules, screen) : "";
  }).join("\n");
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
    if (name === "img") return [picture(node)];
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

// A guest's photo: from the hosts that mails may show, and from no other.
function picture(image: HTMLElement): HTMLElement {
  const url = image.getAttribute("src") ?? "";
  if (!isShown(url)) return placeholder(image);
  const made = document.createElement("img");
  made.src = url;
  made.alt = image.getAttribute("alt") ?? "";
  for (const name of ["width", "height"]) {
    const value = image.getAttribute(name);
    if (value) made.setAttribute(name, value);
  }
  styled(made, image);
  return made;
}

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
