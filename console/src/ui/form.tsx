import type { ComponentChildren, JSX, TargetedEvent } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { ActionButton, useWork } from "./busy.tsx";
import { Notice } from "./notice.tsx";

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "url" | "email" | "password" | "search" | "datetime-local" | "lines";
  /** The options: values and words. */
  readonly options?: readonly (readonly [string, string])[];
  readonly hint?: ComponentChildren;
  /** Why the value is invalid. */
  readonly problem?: string | null | undefined;
  readonly doubt?: string | null | undefined;
  readonly max?: number;
  readonly placeholder?: string;
  readonly mono?: boolean;
  readonly complete?: string;
  readonly focus?: boolean;
  readonly onEnter?: () => void;
}

/** A text, a time or a choice, with its label, hint and error. */
export function Field({ label, value, onChange, type = "text", options, hint, problem, doubt, max, placeholder, mono, complete = "off", focus, onEnter }: FieldProps) {
  const id = useId();
  const common = {
    id,
    value,
    // Of what people type; a choice follows the page.
    dir: options ? ("ltr" as const) : ("auto" as const),
    "aria-invalid": Boolean(problem),
    "aria-describedby": `${id}-told`,
    "data-focus": focus,
    class: mono ? "mono" : "",
    ...(max && { maxLength: max }),
  };
  const input = (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.currentTarget.value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map(([one, words]) => <option key={one} value={one}>{words}</option>)}
        </select>
      ) : type === "lines" ? (
        <textarea {...common} rows={5} spellcheck onInput={input} />
      ) : (
        <input
          {...common}
          type={type as "text"}
          placeholder={placeholder ?? ""}
          autoComplete={complete}
          spellcheck={false}
          onInput={input}
          onKeyDown={(event) => event.key === "Enter" && onEnter?.()}
        />
      )}
      <div id={`${id}-told`} class="told">
        {problem && <p class="field-error">{problem}</p>}
        {!problem && doubt && <p class="doubt">{doubt}</p>}
        {hint && <p class="quiet-text">{hint}</p>}
      </div>
    </div>
  );
}

interface CheckProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  /** Of the choice that it is one answer of. */
  readonly name?: string;
  readonly children: ComponentChildren;
}

export function Check({ isOn, onChange, name, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type={name ? "radio" : "checkbox"}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...(name && { name })}
      />
      <span>{children}</span>
    </label>
  );
}

interface ChoiceProps<Value> {
  readonly label: string;
  readonly chosen: Value;
  readonly options: readonly (readonly [string, Value])[];
  readonly onChoose: (value: Value) => void;
}

/** A few buttons, one of them pressed. */
export function Choice<Value extends string | number | boolean>({ label, chosen, options, onChoose }: ChoiceProps<Value>) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([words, value]) => (
        <button key={words} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>{words}</button>
      ))}
    </div>
  );
}

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog of the browser's own: it keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // At once: a key that is pressed now is meant for the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    // Not into a field that a key would write into, unless it asks for the focus.
    element?.showModal();
    (element?.querySelector<HTMLElement>("[data-focus=true]") ?? element)?.focus();
    // The browser had scrolled to the first field.
    element?.scrollTo(0, 0);
    // A link closes the dialog, because its target is behind it.
    addEventListener("hashchange", onClose);
    return () => {
      removeEventListener("hashchange", onClose);
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} tabIndex={-1} aria-labelledby={id} onCancel={(event) => { event.preventDefault(); onClose(); }}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface AskProps extends ModalProps {
  /** The label of the button that carries it out. */
  readonly action: ComponentChildren;
  /**
   * Carries it out. Afterward the dialog closes, or stays open for the result `stay`. Any other result is shown in
   * place of the question.
   */
  readonly run: () => Promise<"stay" | JSX.Element | void>;
  readonly kind?: "primary" | "danger";
  /** The label of the button that cancels. */
  readonly close?: string;
  readonly disabled?: boolean;
  /** Whether there is nothing (more) to carry out. */
  readonly isDone?: boolean;
  readonly slow?: string;
}

/** Everything that is asked in a dialog: a form, or a question that has no fields. */
export function Ask({ title, action, run, onClose, kind = "primary", close = "Cancel", disabled = false, isDone = false, slow, children }: AskProps) {
  const work = useWork();
  const [result, setResult] = useState<JSX.Element | null>(null);
  const isOver = isDone || result !== null;
  function submit(event: Event) {
    event.preventDefault();
    if (disabled || isOver) return;
    void work.run(async () => {
      const came = await run();
      if (!came) onClose();
      else if (came !== "stay") setResult(came);
    });
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit} noValidate>
        {result ?? children}
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>{isOver ? "Close" : close}</button>
          {!isOver && <ActionButton busy={work.isBusy} kind={kind} submits disabled={disabled} {...(slow && { slow })}>{action}</ActionButton>}
        </div>
      </form>
    </Dialog>
  );
}
