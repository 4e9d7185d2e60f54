import { type FormEvent, useEffect, useState } from "react";
import type { ActionDescriptor, FlowError } from "#server/flow/wire";
import { Button, type ButtonTone } from "../ui/button.tsx";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { iconOf, visibleInputs } from "./arrange.ts";
import { Field, submitsItself } from "./fields.tsx";
import type { FlowType } from "./flow-server.ts";
import { faultsOf, inputData } from "./input-data.ts";
import type { Flow } from "./use-flow.ts";
import { actionWords, fill, type Words } from "./words/words.ts";

/** How an action is drawn: the weight of its button, or a switch that needs none. */
export type ActionLook = ButtonTone | "toggle";

export interface ActionFormProps {
  action: ActionDescriptor;
  look: ActionLook;
  flow: Flow;
  type: FlowType;
  words: Words;
  /** A script runs: steps go through it instead of through the browser. */
  live: boolean;
  /** Seconds to wait before this action may be tried. */
  wait?: number;
}

/**
 * One action as a form: its fields and its button. Without a script it is posted to `/step` as it stands; with one
 * the step is made in place.
 */
export function ActionForm({ action, look, flow, type, words, live, wait = 0 }: ActionFormProps) {
  const { busy, version, turn, state } = flow.view;
  const [faults, setFaults] = useState<Record<string, FlowError>>({});
  const left = useCountdown(wait, state);
  const visible = visibleInputs(action);
  const alone = visible.length === 1;
  const needsButton = !visible.some((input) => submitsItself(input, alone));
  const { label, hint, waiting } = actionWords(words, action.action, action.description);
  const isBusy = busy === action.action;

  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer overrules what the page found by itself
  useEffect(() => setFaults({}), [state]);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (busy !== null || left > 0) return;
    const form = event.currentTarget;
    const found = faultsOf(action, form);
    setFaults(found);
    const first = Object.values(action.inputs).find((input) => Object.hasOwn(found, input.name));
    if (first) {
      focus(form.elements.namedItem(first.name));
      return;
    }
    const { submitter } = event.nativeEvent as SubmitEvent;
    const input = inputData(action, new FormData(form, submitter));
    void flow.act(action.action, input, { quiet: look === "toggle" });
  }

  return (
    <form
      className={`stile-form stile-form-${look}`}
      method="post"
      action="/step"
      noValidate={live}
      onSubmit={submit}
      onChange={look === "toggle" && live ? (event) => event.currentTarget.requestSubmit() : undefined}
      data-action={action.action}
    >
      <input type="hidden" name="flow" value={type} />
      <input type="hidden" name="action" value={action.action} />
      <input type="hidden" name="version" value={version} />
      {hint && look !== "choice" && visible.length > 0 && <p className="stile-hint">{hint}</p>}
      {flow.view.subject && visible.some(({ type }) => type === "password") && (
        <Owner name={flow.view.subject} />
      )}
      {Object.values(action.inputs).map((input) => (
        <Field
          key={input.name}
          input={input}
          words={words}
          flow={type}
          error={faults[input.name] ?? input.error}
          alone={alone}
          busy={busy !== null}
          turn={turn}
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
          icon={iconOf(action)}
          hint={hint}
        >
          {left > 0 ? fill(waiting ?? words.page.tryAgainIn, { time: clockTime(left) }) : label}
        </Button>
      )}
    </form>
  );
}

/** Tells password managers whose password this is; people have been told already. It has no name and is not sent. */
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
