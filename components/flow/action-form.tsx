import { type FormEvent, useEffect, useRef, useState } from "react";
import type { ActionDescriptor, FlowError } from "#server/flow/wire";
import { Button, type ButtonTone } from "../ui/button.tsx";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { accountIdOf } from "./account.ts";
import { iconOf, isChoice, needsScript, presetOf, scriptedClass, visibleInputs } from "./action-layout.ts";
import { Field, submitsItself } from "./fields.tsx";
import { formValue, inputData, inputErrorsOf } from "./input-data.ts";
import { isText, nameOf, primaryAddressOf } from "./payload-readers.ts";
import type { ItemReference, PageValues, ViewContext } from "./view-context.ts";
import { actionWords, interpolate } from "./words.ts";

/** How an action is drawn: the style of its button, or a switch without a button. */
export type ActionTone = ButtonTone | "toggle";

export interface ActionFormProps {
  context: ViewContext;
  action: ActionDescriptor;
  tone: ActionTone;
  /** Seconds until the action is allowed. */
  wait?: number;
  /** The item that the action is performed on. */
  item?: ItemReference | undefined;
  /** Id of the form. */
  id?: string | undefined;
  /** Without scripts: the switch whose choice this form carries, or the id of the form that carries this switch or these buttons. */
  carries?: string | undefined;
  carriedBy?: string | undefined;
  /** The form is in a disclosure whose summary has the action's label, so the button uses `submit`. */
  inDisclosure?: boolean;
}

/**
 * One action as a form with fields and a button. Without scripts it is posted to `/step`; with scripts the step is
 * made in place.
 */
export function ActionForm({
  context,
  action,
  tone,
  wait = 0,
  item,
  inDisclosure = false,
  id,
  carries,
  carriedBy,
}: ActionFormProps) {
  const { flow, type, words, copy, live, base } = context;
  const { busy, version, answerCount, state, performed, itemId } = flow.view;
  const [inputErrors, setInputErrors] = useState<Record<string, FlowError>>({});
  const form = useRef<HTMLFormElement>(null);
  /** How many changes of this switch are not answered yet. */
  const [awaited, setAwaited] = useState(0);
  const { refusal } = flow.view;
  const secondsLeft = useCountdown(refusal?.seconds ?? wait, refusal ?? state);
  // A refusal applies to every action; the one that met it counts down.
  const counts = secondsLeft > 0 && (refusal === null || performed === action.action);
  const pageValues = item ? { ...context.pageValues, [item.input]: item.id } : context.pageValues;
  const visible = visibleInputs(action, pageValues);
  const alone = visible.length === 1;
  const needsButton = !visible.some((input) => submitsItself(input, alone, pageValues));
  const { label, hint, waiting, submit } = actionWords(words, action.action, action.description, copy);
  // The description of the server says what no words of this page do.
  const isUntranslated = hint !== undefined && hint === action.description;
  const scripted = needsScript(action);
  // The form that carries the buttons has another action, so their address names theirs.
  const carrier =
    live || !carriedBy
      ? undefined
      : {
          form: carriedBy,
          formAction: `${base}/step?${stepQuery(action, pageValues)}`,
          formNoValidate: true,
        };
  const isForThisItem = !item || itemId === item.id;
  const isBusy = busy === action.action && isForThisItem;
  const { user, identifier } = state.payload;
  const typed = isText(identifier) ? identifier : flow.view.subject;
  const account = accountIdOf(state);
  const owner = primaryAddressOf(user) ?? nameOf(user) ?? typed;

  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer replaces the errors that the page found
  useEffect(() => setInputErrors({}), [state]);

  // A switch shows what holds: another tab may have changed it, or its own change may not have been made. React sets
  // only the default of a box that the user may change.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a box that is changed before the script arrived is sent
  useEffect(() => {
    if (tone === "toggle" && live && awaited === 0) form.current?.reset();
  }, [tone, state, awaited]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the fields are emptied after success
  useEffect(() => {
    const succeeded = performed === action.action && isForThisItem && !state.error && !flow.view.notice;
    if (succeeded && tone !== "toggle") form.current?.reset();
  }, [answerCount]);

  // What was switched before the script arrived.
  useEffect(() => {
    const box = form.current?.querySelector<HTMLInputElement>("input[type=checkbox]");
    if (tone === "toggle" && live && box && box.checked !== box.defaultChecked) form.current?.requestSubmit();
  }, [tone, live]);

  function perform(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (busy !== null || secondsLeft > 0) return;
    const form = event.currentTarget;
    const found = inputErrorsOf(action, form);
    setInputErrors(found);
    const first = Object.values(action.inputs).find((input) => Object.hasOwn(found, input.name));
    if (first) {
      focus(form.elements.namedItem(first.name));
      return;
    }
    const { submitter } = event.nativeEvent as SubmitEvent;
    const input = inputData(action, new FormData(form, submitter), pageValues);
    setAwaited((count) => count + 1);
    void flow
      .act(action.action, input, { background: tone === "toggle", itemId: item?.id })
      .finally(() => setAwaited((count) => count - 1));
  }

  return (
    <form
      ref={form}
      id={id}
      className={`stile-form stile-form-${tone}${scriptedClass([action])}`}
      method="post"
      action={`${base}/step`}
      noValidate={live}
      onSubmit={perform}
      onReset={() => setInputErrors({})}
      onChange={tone === "toggle" && live ? (event) => event.currentTarget.requestSubmit() : undefined}
      data-action={action.action}
    >
      <input type="hidden" name="flow" value={type} />
      <input type="hidden" name="action" value={action.action} />
      <input type="hidden" name="version" value={version} />
      {version === 0 && account !== undefined && <input type="hidden" name="account" value={account} />}
      {scripted && <input type="hidden" name="with_script" value="true" />}
      {carries && !live && <input type="hidden" name="with_choice" value={carries} />}
      {hint && tone !== "choice" && (visible.length > 0 || isUntranslated) && (
        <p className="stile-hint">{hint}</p>
      )}
      {owner && visible.some(({ type }) => type === "password") && <Owner name={owner} />}
      {Object.values(action.inputs).map((input) => (
        <Field
          key={input.name}
          input={input}
          words={words}
          flow={type}
          action={action.action}
          error={inputErrors[input.name] ?? (isForThisItem ? input.error : undefined)}
          isOnlyInput={alone}
          busy={busy !== null || secondsLeft > 0}
          answerCount={answerCount}
          pageValues={pageValues}
          carrier={carrier}
        />
      ))}
      {counts && !needsButton && (
        <p className="stile-hint stile-with-script">
          {interpolate(words.page.waitFor, { time: clockTime(secondsLeft) })}
        </p>
      )}
      {tone === "toggle" && !live && !carriedBy && (
        <button type="submit" className="stile-apply">
          {words.page.apply}
        </button>
      )}
      {tone !== "toggle" && needsButton && (
        <Button
          tone={tone}
          type="submit"
          busy={isBusy}
          disabled={secondsLeft > 0 || (busy !== null && !isBusy)}
          icon={inDisclosure || tone === "link" ? undefined : iconOf(action)}
          hint={hint}
        >
          {counts
            ? interpolate(waiting ?? words.page.tryAgainIn, { time: clockTime(secondsLeft) })
            : ((inDisclosure ? submit : undefined) ?? label)}
          {item && !inDisclosure && (
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

/** An action with its hidden inputs, in the query of the address of a step. */
function stepQuery({ action, inputs }: ActionDescriptor, pageValues: PageValues): URLSearchParams {
  const hidden = Object.values(inputs)
    .filter((input) => input.hidden && !isChoice(input, pageValues))
    .map((input): [string, string] => [input.name, formValue(presetOf(input, pageValues))]);
  return new URLSearchParams([["action", action], ...hidden.filter(([, value]) => value !== "")]);
}

function focus(control: Element | RadioNodeList | null): void {
  if (control instanceof HTMLElement) control.focus();
}
