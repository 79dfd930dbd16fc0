// The page that shows a mail: `/mail`, in a frame without an origin. Its policy lets styles pass, and
// pictures of the hosts that mails may show; other requests and scripts are blocked, and links are disabled.

interface Shown {
  readonly html: string;
  readonly scheme: "light" | "dark";
}

addEventListener("message", ({ data, source }: MessageEvent<Shown>) => {
  if (source !== parent) return;
  const mail = new DOMParser().parseFromString(data.html, "text/html");
  const { lang, dir } = mail.documentElement;
  Object.assign(document.documentElement, { lang, dir });
  document.documentElement.style.colorScheme = data.scheme;
  document.body.replaceWith(document.adoptNode(mail.body));
  for (const style of document.head.querySelectorAll("style")) style.remove();
  document.head.append(...Array.from(mail.querySelectorAll("style"), (style) => document.adoptNode(style)));
  for (const { cssRules } of document.styleSheets) choose(cssRules, data.scheme);
});

// Applies the chosen color scheme instead of the one that the browser prefers.
function choose(rules: CSSRuleList, scheme: string): void {
  for (const rule of rules) {
    if (!(rule instanceof CSSMediaRule)) continue;
    rule.media.mediaText = rule.media.mediaText.replace(/\(prefers-color-scheme:\s*(\w+)\)/g, (_, asked) => (asked === scheme ? "(min-width: 0)" : "(max-width: 0)"));
    choose(rule.cssRules, scheme);
  }
}

addEventListener("click", (event) => event.preventDefault(), true);
addEventListener("submit", (event) => event.preventDefault(), true);
