import DOMPurify from "dompurify";
import { useEffect, useRef } from "preact/hooks";

import { PHONE, type Screen, holds } from "../domain/media.ts";
import { isShown } from "./picture.tsx";

// Stands for `style` until the mail is drawn.
const LOOK = "data-look";
const PURIFY = {
  ALLOWED_TAGS:
    "a abbr b blockquote br center code div em figcaption figure h1 h2 h3 h4 hr i img li ol p pre small span strong table tbody td th thead tr u ul".split(" "),
  ALLOWED_ATTR:
    "align alt bgcolor border cellpadding cellspacing class colspan dir height href lang rowspan src valign width".split(" ").concat(LOOK),
  RETURN_DOM_FRAGMENT: true,
} as const;

/**
 * A mail, drawn in a tree of its own. Nothing in it runs, no link leads away, and pictures load from
 * the hosts that mails may show alone.
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
    root.adoptedStyleSheets = [sheet];
    root.replaceChildren(drawn(markup));
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

function drawn(markup: string): DocumentFragment {
  const mail = DOMPurify.sanitize(markup, PURIFY);
  for (const element of mail.querySelectorAll<HTMLElement>(`[${LOOK}]`)) {
    element.style.cssText = element.getAttribute(LOOK)?.replace(/url\([^)]*\)/gi, "none") ?? "";
    if (/fixed|sticky/.test(element.style.position)) element.style.position = "static";
  }
  for (const link of mail.querySelectorAll("a")) {
    link.title = link.getAttribute("href") ?? "";
    link.removeAttribute("href");
    link.style.textDecoration ||= "underline";
  }
  for (const image of mail.querySelectorAll("img")) {
    if (!isShown(image.getAttribute("src") ?? "")) image.replaceWith(placeholder(image));
  }
  return mail;
}

function placeholder(image: HTMLElement): HTMLElement {
  const made = document.createElement("span");
  made.textContent = image.getAttribute("alt") || "photo";
  made.style.cssText =
    "display:inline-flex;align-items:center;justify-content:center;min-width:8rem;min-height:6rem;" +
    "padding:0.5rem;background:#e9edeb;color:#4d5753;border-radius:0.4rem;font-size:0.8rem";
  return made;
}
