import { type RecapTexts, RECAP_TEXTS, TEXT_LABELS, TEXT_NAMES } from "../../domain/recap_text.ts";
import { Foreign } from "../../ui/text.tsx";

/** The organizer's texts as rows of a list. */
export function Texts({ texts }: { readonly texts: RecapTexts }) {
  return (
    <>
      {TEXT_NAMES.filter((name) => texts[name]).map((name) => (
        <div key={name}><dt>{TEXT_LABELS[name]}</dt><dd class={RECAP_TEXTS[name].hasLines ? "lines" : ""}><Foreign>{texts[name]}</Foreign></dd></div>
      ))}
    </>
  );
}
