import { useId } from "react";
import type { ActionDescriptor } from "#server/flow/wire";
import type { FlowWords } from "#words/flow";
import { Alert } from "../ui/alert.tsx";
import { Breakable } from "../ui/breakable.tsx";
import { Button } from "../ui/button.tsx";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { isAccount, isItemAction } from "./account.ts";
import { AccountView } from "./account-view.tsx";
import { ActionForm, type ActionFormProps, type ActionTone } from "./action-form.tsx";
import {
  type ActionLayout,
  hasInputError,
  layOutActions,
  remedyOf,
  scriptedClass,
  waitOf,
} from "./action-layout.ts";
import { ceremonyOf, destinationOf } from "./ceremonies.ts";
import { Disclosure } from "./disclosure.tsx";
import { isErrorAnswer } from "./error-answer.ts";
import { ExitLinks } from "./exit-links.tsx";
import { Identity, identifierOf } from "./identity.tsx";
import { Impersonation, impersonationIn } from "./impersonation.tsx";
import { isText } from "./payload-readers.ts";
import { Payloads } from "./payloads.tsx";
import type { ProviderReturn } from "./provider-return.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { SignInInstead, takenAddress } from "./sign-in-instead.tsx";
import { SignOut } from "./sign-out.tsx";
import { StateAlerts } from "./state-alerts.tsx";
import { Consent } from "./state-links.tsx";
import { useFocus } from "./use-focus.ts";
import { User } from "./user.tsx";
import { isRejectedReturn, variantsOf } from "./variants.ts";
import type { ViewContext } from "./view-context.ts";
import { actionWords, afterProof, errorText, interpolate, lengthOfTime } from "./words.ts";

export interface StateViewProps {
  context: ViewContext;
  /** The ceremony of this state, as far as the user can retry it. */
  ceremonyStatus: { beginAgain: () => Promise<void>; mayBeginAgain: boolean; silent: boolean };
  /** Recovery codes that are not yet saved; `onCodesSaved` reports that they are. */
  unsavedCodes: readonly string[];
  onCodesSaved: () => void;
  /** The pending result of an identity provider. */
  providerReturn: ProviderReturn | null;
  navigate: (url: string) => void;
}

/** Draws any state: its words, its payload, and a form per action. */
export function StateView({
  context,
  ceremonyStatus,
  unsavedCodes: codes,
  onCodesSaved,
  providerReturn,
  navigate,
}: StateViewProps) {
  const unsavedCodes = codes.length > 0;
  const { flow, words, copy, live, pageValues } = context;
  const { state, attempted, busy, performed, itemId, subject, redirectTo } = flow.view;
  const account = isAccount(state);
  const impersonation = impersonationIn(state.payload);
  const done = doneWords(context);
  const section = useFocus(flow, live, done !== undefined && !account);
  const titleId = useId();
  const ceremony = ceremonyOf(state);
  const isTaken = takenAddress(context) !== null;
  // Its address leads back here, and there is nothing to try again.
  const isRejected = isRejectedReturn(state);
  const isSettled = isTaken || isRejected;
  const destination = unsavedCodes || providerReturn || isSettled ? null : destinationOf(state, redirectTo);
  const isSecurityKey = variantsOf(state, context.type, attempted).includes("security_key");
  // Nothing comes of a page for providers without an answer, a destination or a way back.
  const isAwaited =
    ceremony?.action !== "exchange_token" ||
    providerReturn ||
    destination ||
    Object.hasOwn(state.actions, "back");
  const ceremonyView =
    ceremony?.mode === "blocking" && isAwaited && !state.error ? ceremony.waiting : undefined;
  const waiting = ceremonyView && ceremonyStatus.silent ? "outline" : ceremonyView;
  const mayBeginAgain = live && ceremonyStatus.mayBeginAgain && !isSettled;
  const hidesCeremonyAction = mayBeginAgain || isSettled || (live && waiting === "prompt");
  const layout = layOutActions(state, ceremony?.action ?? null, hidesCeremonyAction, pageValues);
  const { back } = layout;
  const remedy = remedyOf(state);
  const isOnlyWay = back !== null && isRejected && !isTaken;
  const deadEnd =
    !isOnlyWay &&
    !isErrorAnswer(state) &&
    !copy.end &&
    !account &&
    !destination &&
    isEmpty(layout) &&
    !waiting &&
    !mayBeginAgain &&
    !isTaken;
  // Errors of an action that is drawn once per item are shown only if this page knows the item.
  const shownErrors = Object.values(state.actions).filter(
    (action) => !account || itemId !== null || !isItemAction(action),
  );

  return (
    <section
      ref={section}
      className="stile-state"
      aria-labelledby={titleId}
      aria-busy={busy !== null}
      data-state={state.name}
      data-waiting={waiting}
    >
      {waiting === "outline" && <Outline label={words.page.working} />}
      <div className="stile-content">
        {impersonation && <Impersonation {...{ context, navigate }} value={impersonation} />}
        {back && !isOnlyWay && <ActionForm context={context} action={back} tone="back" />}
        {waiting === "prompt" && (
          <Emblem icon={ceremony?.icon ?? (isSecurityKey ? "key" : "passkey")} moving />
        )}
        {copy.end && <Emblem icon="check" />}
        <div className="stile-heading">
          <h1 className="stile-title" id={titleId} tabIndex={-1}>
            {copy.title}
          </h1>
          {account && !impersonation && <SignOut context={context} navigate={navigate} />}
        </div>
        <Identity context={context} />
        {destination ? (
          <p className="stile-sentence" role="status">
            <a href={destination.href}>
              {interpolate(redirectTo ? words.page.returning : words.page.continueAt, {
                host: destination.host,
              })}
            </a>
          </p>
        ) : (
          // What the browser asked is answered, or what was sent is spent; only whether to try again is open.
          !unsavedCodes &&
          !mayBeginAgain &&
          !remedy &&
          !isSettled && <Sentence context={context} deadEnd={deadEnd && back === null} subject={subject} />
        )}
        <AfterProof context={context} />
        <StateAlerts context={context} inputErrorShown={hasInputError(shownErrors)} />
        {!live && providerReturn && "error" in providerReturn && (
          <Alert tone="info">
            <p>{errorText(words, { code: providerReturn.error })}</p>
          </Alert>
        )}
        {done !== undefined && !account && (
          <Alert tone="info">
            <p>{done}</p>
          </Alert>
        )}
        {account ? (
          <User
            value={state.payload.user}
            words={words}
            base={context.base}
            path={state.payload.picture_path}
          />
        ) : (
          <Payloads payload={state.payload} context={context} />
        )}
        {unsavedCodes && (
          <RecoveryCodes context={context} codes={codes} redirectTo={redirectTo} onSaved={onCodesSaved} />
        )}
        {waiting === "prompt" && live && ceremony?.needs && (
          <BrowserPrompt words={words} onTryAgain={ceremonyStatus.beginAgain} />
        )}
        {mayBeginAgain && <TryAgain context={context} onTryAgain={ceremonyStatus.beginAgain} />}
        {account ? (
          <AccountView context={context} />
        ) : (
          <Actions context={context} layout={layout} performed={performed} />
        )}
        {isOnlyWay && <ActionForm context={context} action={back} tone="primary" />}
        <Consent state={state} words={words} />
        {copy.note && !remedy && <p className="stile-hint">{copy.note}</p>}
        <ExitLinks
          context={context}
          unsavedCodes={unsavedCodes}
          redirecting={destination !== null}
          deadEnd={deadEnd}
        />
      </div>
    </section>
  );
}

/** Whether there is no action but to go back. */
function isEmpty({ form, toggles, choices, valueButtons, collapsed, links }: ActionLayout): boolean {
  return !form && [toggles, choices, valueButtons, collapsed, links].every((actions) => actions.length === 0);
}

/** The actions of a state, most likely first. */
function Actions({
  context,
  layout,
  performed,
}: {
  context: ViewContext;
  layout: ActionLayout;
  performed: string | null;
}) {
  const { form, toggles, choices, valueButtons, collapsed, links } = layout;
  const { words, flow, live } = context;
  const formId = useId();
  const address = takenAddress(context);
  const { state } = flow.view;
  const ceremony = ceremonyOf(state);
  const only = choices.length === 1 ? choices[0] : undefined;
  const wait = waitOf(state, performed, ceremony?.action, form?.action, only?.action);
  const seconds = (name: string) => (wait?.action === name ? wait.seconds : 0);
  const draw =
    (tone: ActionTone, more: Pick<ActionFormProps, "id" | "carries" | "carriedBy"> = {}) =>
    (action: ActionDescriptor) => (
      <ActionForm key={action.action} {...{ context, action, tone, ...more }} wait={seconds(action.action)} />
    );
  const carried = { carriedBy: form ? formId : undefined };
  const [carriedToggle, ...otherToggles] = toggles;
  const { last_method: lastMethod } = state.payload;
  const remembered = valueButtons.filter((action) => offers(action, lastMethod));
  const others = valueButtons.filter((action) => !remembered.includes(action));
  const alternatives = [...choices, ...valueButtons];
  // A script will perform this action, so its button is not emphasised.
  const isAwaited = live && ceremony?.needs !== undefined && state.payload[ceremony.needs] !== undefined;
  const isAutomatic = isAwaited && choices[0]?.action === ceremony.action;
  const choiceTone = form || isAutomatic ? "secondary" : choices.length > 1 ? "choice" : "primary";
  return (
    <>
      {form && draw("primary", { id: formId, carries: carriedToggle?.action })(form)}
      {address !== null && <SignInInstead {...{ context, address }} alone={!form} />}
      {carriedToggle && draw("toggle", carried)(carriedToggle)}
      {otherToggles.map(draw("toggle"))}
      {form && alternatives.length > 0 && (
        <p className={`stile-or${scriptedClass(alternatives)}`}>{words.page.or}</p>
      )}
      {alternatives.length > 0 && (
        <div className={`stile-choices${scriptedClass(alternatives)}`}>
          {remembered.map(draw("secondary", carriedToggle && carried))}
          {choices.map(draw(choiceTone))}
          {others.map(draw("secondary", carriedToggle && carried))}
        </div>
      )}
      {links.length > 0 && <div className="stile-minor">{links.map(draw("link"))}</div>}
      {collapsed.map((action) => (
        <Disclosure key={action.action} context={context} action={action} wait={seconds(action.action)} />
      ))}
    </>
  );
}

/** Whether one of the buttons of an action stands for the way in that this browser used last. */
function offers(action: ActionDescriptor, lastMethod: unknown): boolean {
  return Object.values(action.inputs).some((input) =>
    input.allowed_values?.some(({ value }) => value === lastMethod),
  );
}

/** A large icon for a state without fields. */
function Emblem({ icon, moving = false }: { icon: IconName; moving?: boolean }) {
  return (
    <span className="stile-emblem" data-moving={moving || undefined} aria-hidden="true">
      <Icon name={icon} />
    </span>
  );
}

function Sentence({
  context,
  deadEnd,
  subject,
}: {
  context: ViewContext;
  deadEnd: boolean;
  subject: string | null;
}) {
  const { copy, flow, language, words } = context;
  const { identifier, code_lifetime } = flow.view.state.payload;
  const shown = isText(identifier) ? identifier : subject;
  // The account stands above already; it may be a username, to which nothing is mailed.
  const withSubject =
    !deadEnd && shown && identifierOf(context) === null ? copy.sentenceWithSubject : undefined;
  const chosen = withSubject ?? (deadEnd && !copy.nextPage ? words.page.nothingToDo : copy.sentence);
  if (!chosen) return null;
  const text = chosen.replace("{time}", lengthOfTime(code_lifetime, language));
  const [before, after] = text.split("{subject}");
  if (after === undefined) return <p className="stile-sentence">{text}</p>;
  return (
    <p className="stile-sentence">
      {before}
      <strong className="stile-subject" dir="auto">
        <Breakable text={shown ?? ""} />
      </strong>
      {after}
    </p>
  );
}

/** Begins a ceremony again, as soon as the server allows it. */
function TryAgain({ context, onTryAgain }: { context: ViewContext; onTryAgain: () => Promise<void> }) {
  const { flow, words } = context;
  const { state, performed, busy, refusal } = flow.view;
  const seconds = refusal?.seconds ?? waitOf(state, performed)?.seconds ?? 0;
  const left = useCountdown(seconds, refusal ?? state);
  return (
    <Button
      tone="primary"
      type="button"
      busy={busy !== null}
      disabled={left > 0}
      onClick={() => void onTryAgain()}
    >
      {left > 0 ? interpolate(words.page.tryAgainIn, { time: clockTime(left) }) : words.page.tryAgain}
    </Button>
  );
}

/** What the page does while the browser asks for a passkey, and what the user can do if it does not. */
function BrowserPrompt({ words, onTryAgain }: { words: FlowWords; onTryAgain: () => Promise<void> }) {
  return (
    <div className="stile-waiting-browser">
      <p className="stile-waiting" role="status">
        <span className="stile-pulse" aria-hidden="true" />
        <span>{words.page.waitingForBrowser}</span>
      </p>
      <p className="stile-hint">{words.page.nothingHappens}</p>
      <Button tone="secondary" type="button" onClick={() => void onTryAgain()}>
        {words.page.tryAgain}
      </Button>
    </div>
  );
}

/** What the user is authenticating again for. */
function AfterProof({ context: { words, flow } }: { context: ViewContext }) {
  const text = afterProof(words, flow.view.state.payload.wanted_action);
  return text === null ? null : <p className="stile-sentence">{text}</p>;
}

/** The confirmation of an action that led back to the same state. */
function doneWords({ flow, words, copy }: ViewContext): string | undefined {
  const { state, notice, performed } = flow.view;
  const action = performed === null || state.error || notice ? undefined : state.actions[performed];
  return action && actionWords(words, action.action, action.description, copy).done;
}

/** A skeleton of the next state while a script detects the browser's capabilities. */
function Outline({ label }: { label: string }) {
  return (
    <div className="stile-outline" role="status">
      <span className="stile-hidden">{label}</span>
      <span className="stile-outline-title" />
      <span className="stile-outline-line" />
      <span className="stile-outline-box" />
      <span className="stile-outline-box" />
    </div>
  );
}
