import { type FormEvent, useEffect, useRef, useState } from "react";
import type { ActionDescriptor, FlowError } from "#server/flow/wire";
import { Button, type ButtonTone } from "../ui/button.tsx";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { iconOf, visibleInputs } from "./action-layout.ts";
import { Field, submitsItself } from "./fields.tsx";
import { inputData, inputErrorsOf } from "./input-data.ts";
import { nameOf, primaryAddressOf } from "./payload-readers.ts";
import type { ItemReference, ViewContext } from "./view-context.ts";
import { actionWords, interpolate } from "./words.ts";

/** How an action is drawn: the style of its button, or a switch without a button. */
export type ActionLook = ButtonTone | "toggle";

export interface ActionFormProps {
  context: ViewContext;
  action: ActionDescriptor;
  look: ActionLook;
  /** Seconds until the action is allowed. */
  wait?: number;
  /** The item that the action is performed on. */
  item?: ItemReference | undefined;
  /** The form is in a fold whose summary has the action's label, so the button uses `submit`. */
  folded?: boolean;
}

/**
 * One action as a form with fields and a button. Without scripts it is posted to `/step`; with scripts the step is
 * made in place.
 */
export function ActionForm({ context, action, look, wait = 0, item, folded = false }: ActionFormProps) {
  const { flow, type, words, copy, live, base } = context;
  const { busy, version, turn, state, performed, about } = flow.view;
  const [inputErrors, setInputErrors] = useState<Record<string, FlowError>>({});
  const form = useRef<HTMLFormElement>(null);
  const left = useCountdown(wait, state);
  const known = item ? { ...context.known, [item.input]: item.id } : context.known;
  const visible = visibleInputs(action, known);
  const alone = visible.length === 1;
  const needsButton = !visible.some((input) => submitsItself(input, alone, known));
  const { label, hint, waiting, submit } = actionWords(words, action.action, action.description, copy);
  const isMine = !item || about === item.id;
  const isBusy = busy === action.action && isMine;
  const { user } = state.payload;
  const owner = primaryAddressOf(user) ?? nameOf(user) ?? flow.view.subject;

  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer overrules what the page found by itself
  useEffect(() => setInputErrors({}), [state]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was taken need not stand there any longer
  useEffect(() => {
    const taken = performed === action.action && isMine && !state.error && !flow.view.notice;
    if (taken && look !== "toggle") form.current?.reset();
  }, [turn]);

  function perform(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (busy !== null || left > 0) return;
    const form = event.currentTarget;
    const found = inputErrorsOf(action, form);
    setInputErrors(found);
    const first = Object.values(action.inputs).find((input) => Object.hasOwn(found, input.name));
    if (first) {
      focus(form.elements.namedItem(first.name));
      return;
    }
    const { submitter } = event.nativeEvent as SubmitEvent;
    const input = inputData(action, new FormData(form, submitter), known);
    void flow.act(action.action, input, { quiet: look === "toggle", ...(item ? { about: item.id } : {}) });
  }

  return (
    <form
      ref={form}
      className={`stile-form stile-form-${look}`}
      method="post"
      action={`${base}/step`}
      noValidate={live}
      onSubmit={perform}
      onChange={look === "toggle" && live ? (event) => event.currentTarget.requestSubmit() : undefined}
      data-action={action.action}
    >
      <input type="hidden" name="flow" value={type} />
      <input type="hidden" name="action" value={action.action} />
      <input type="hidden" name="version" value={version} />
      {hint && look !== "choice" && visible.length > 0 && <p className="stile-hint">{hint}</p>}
      {owner && visible.some(({ type }) => type === "password") && <Owner name={owner} />}
      {Object.values(action.inputs).map((input) => (
        <Field
          key={input.name}
          input={input}
          words={words}
          flow={type}
          error={inputErrors[input.name] ?? (isMine ? input.error : undefined)}
          alone={alone}
          busy={busy !== null}
          turn={turn}
          known={known}
        />
      ))}
      {look === "toggle" && !live && (
        <button type="submit" className="stile-apply">
          {words.page.apply}
        </button>
      )}
      {look !== "toggle" && needsButton && (
        <Button
          tone={look}
          type="submit"
          busy={isBusy}
          disabled={left > 0 || (busy !== null && !isBusy)}
          icon={folded || look === "link" ? undefined : iconOf(action)}
          hint={hint}
        >
          {left > 0
            ? interpolate(waiting ?? words.page.tryAgainIn, { time: clockTime(left) })
            : ((folded ? submit : undefined) ?? label)}
          {item && !folded && (
            <>
              {" "}
              <span className="stile-hidden">{item.name}</span>
            </>
          )}
        </Button>
      )}
    </form>
  );
}

/** The account name for password managers, invisible to users. It has no name and is not sent. */
function Owner({ name }: { name: string }) {
  return (
    <input
      className="stile-owner"
      type="text"
      autoComplete="username"
      value={name}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}

function focus(control: Element | RadioNodeList | null): void {
  if (control instanceof HTMLElement) control.focus();
}
