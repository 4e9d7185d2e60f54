import { useId } from "react";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { isAccount } from "./account.ts";
import { isAboutThings } from "./account-sections.ts";
import { AccountView } from "./account-view.tsx";
import { ActionForm, type ActionLook } from "./action-form.tsx";
import { type Arrangement, arrange, hasInputError, waitOf } from "./action-layout.ts";
import { ceremonyOf, destinationOf } from "./ceremonies.ts";
import { WaysOut } from "./exit-links.tsx";
import { Fold } from "./fold.tsx";
import { Payloads, User } from "./payloads.tsx";
import type { ProviderReturn } from "./provider-return.ts";
import { RecoveryCodes, recoveryCodesIn } from "./recovery-codes.tsx";
import { SignOut } from "./sign-out.tsx";
import { Problems } from "./state-alerts.tsx";
import { isRefusal } from "./use-flow.ts";
import { useFocus } from "./use-focus.ts";
import { variantsOf } from "./variants.ts";
import type { Stage } from "./view-context.ts";
import { actionWords, errorText, interpolate } from "./words.ts";

export interface StateViewProps {
  stage: Stage;
  /** What only a browser can do here, as far as it is a person's to begin again. */
  ceremonial: { beginAgain: () => void; mayBeginAgain: boolean; silent: boolean };
  /** What is shown only once has yet to be put away; `release` says that it was. */
  held: boolean;
  release: () => void;
  /** What the person has brought back from an identity provider, and was not used yet. */
  arrival: ProviderReturn | null;
  navigate: (url: string) => void;
}

/** Draws any state: its words, what it tells, and a form for each action that is a person's to perform. */
export function StateView({ stage, ceremonial, held, release, arrival, navigate }: StateViewProps) {
  const { flow, words, here, live, known } = stage;
  const { state, busy, performed, about, subject, leaving } = flow.view;
  const account = isAccount(state);
  const done = doneWords(stage);
  const section = useFocus(flow, live, done !== undefined && !account);
  const titleId = useId();
  const ceremony = ceremonyOf(state);
  const destination = held || arrival ? null : destinationOf(state, leaving);
  const aboutKey = variantsOf(state, stage.type).includes("security_key");
  const at = ceremony?.when === "at once" && !state.error ? ceremony.waiting : undefined;
  const waiting = at && ceremonial.silent ? "outline" : at;
  const mayBeginAgain = live && ceremonial.mayBeginAgain;
  const hides = mayBeginAgain || (live && waiting === "prompt");
  const arranged = arrange(state, ceremony?.action ?? null, hides, known);
  const { back } = arranged;
  const stuck = !isRefusal(state) && !here.end && !account && !destination && isEmpty(arranged) && !waiting;
  // Of what stands there many times nobody knows which one was meant, unless it was done on this page.
  const shownErrors = Object.values(state.actions).filter(
    (action) => !account || about !== null || !isAboutThings(action),
  );
  const codes = held ? recoveryCodesIn(state.payload) : [];

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
        {back && <ActionForm stage={stage} action={back} look="back" />}
        {waiting === "prompt" && <Emblem icon={ceremony?.icon ?? (aboutKey ? "key" : "passkey")} moving />}
        {here.end && <Emblem icon="check" />}
        <div className="stile-heading">
          <h1 className="stile-title" id={titleId} tabIndex={-1}>
            {here.title}
          </h1>
          {account && <SignOut stage={stage} navigate={navigate} />}
        </div>
        {destination ? (
          <p className="stile-sentence" role="status">
            <a href={destination.href}>
              {interpolate(leaving ? words.page.returning : words.page.continueAt, {
                host: destination.host,
              })}
            </a>
          </p>
        ) : (
          !held && <Sentence stage={stage} stuck={stuck && back === null} subject={subject} />
        )}
        <Problems stage={stage} told={hasInputError(shownErrors)} />
        {!live && arrival && "error" in arrival && (
          <Alert tone="news">
            <p>{errorText(words, { code: arrival.error })}</p>
          </Alert>
        )}
        {done !== undefined && !account && (
          <Alert tone="news">
            <p>{done}</p>
          </Alert>
        )}
        {account ? (
          <User value={state.payload.user} words={words} />
        ) : (
          <Payloads payload={state.payload} words={words} />
        )}
        {codes.length > 0 && <RecoveryCodes stage={stage} codes={codes} onward={leaving} onSaved={release} />}
        {mayBeginAgain && (
          <Button tone="primary" type="button" busy={busy !== null} onClick={ceremonial.beginAgain}>
            {words.page.tryAgain}
          </Button>
        )}
        {account ? (
          <AccountView stage={stage} />
        ) : (
          <Actions stage={stage} arranged={arranged} performed={performed} />
        )}
        <WaysOut stage={stage} held={held} away={destination !== null} stuck={stuck} />
      </div>
    </section>
  );
}

/** Whether there is nothing for a person to do but to go back. */
function isEmpty({ form, toggles, choices, picks, folded, quiet }: Arrangement): boolean {
  return !form && [toggles, choices, picks, folded, quiet].every((actions) => actions.length === 0);
}

/** What a person can do, most likely first. */
function Actions({
  stage,
  arranged,
  performed,
}: {
  stage: Stage;
  arranged: Arrangement;
  performed: string | null;
}) {
  const { form, toggles, choices, picks, folded, quiet } = arranged;
  const { words, flow, live } = stage;
  const { state } = flow.view;
  const ceremony = ceremonyOf(state);
  const wait = waitOf(state, performed, ceremony?.action);
  const seconds = (name: string) => (wait?.action === name ? wait.seconds : 0);
  const draw = (look: ActionLook) => (action: (typeof choices)[number]) => (
    <ActionForm key={action.action} {...{ stage, action, look }} wait={seconds(action.action)} />
  );
  const ways = choices.length + picks.length;
  // What a script waits for, and then does by itself, need not be pressed.
  const awaited = live && ceremony?.needs !== undefined && state.payload[ceremony.needs] !== undefined;
  const byItself = awaited && choices[0]?.action === ceremony.action;
  const weight = form || byItself ? "secondary" : choices.length > 1 ? "choice" : "primary";
  return (
    <>
      {form && draw("primary")(form)}
      {toggles.map(draw("toggle"))}
      {form && ways > 0 && <p className="stile-or">{words.page.or}</p>}
      {choices.length > 0 && <div className="stile-choices">{choices.map(draw(weight))}</div>}
      {picks.map(draw("secondary"))}
      {quiet.length > 0 && <div className="stile-quiet">{quiet.map(draw("link"))}</div>}
      {folded.map((action) => (
        <Fold key={action.action} stage={stage} action={action} wait={seconds(action.action)} />
      ))}
    </>
  );
}

/** One picture in a ring, where there is nothing to fill in. */
function Emblem({ icon, moving = false }: { icon: IconName; moving?: boolean }) {
  return (
    <span className="stile-emblem" data-moving={moving || undefined} aria-hidden="true">
      <Icon name={icon} />
    </span>
  );
}

function Sentence({ stage, stuck, subject }: { stage: Stage; stuck: boolean; subject: string | null }) {
  const { sentence, sentenceAbout } = stage.here;
  const text = stuck ? stage.words.page.nothingToDo : subject && sentenceAbout ? sentenceAbout : sentence;
  if (!text) return null;
  const [before, after] = text.split("{subject}");
  if (after === undefined) return <p className="stile-sentence">{text}</p>;
  return (
    <p className="stile-sentence">
      {before}
      <strong className="stile-subject">{subject}</strong>
      {after}
    </p>
  );
}

/** What there is to say about a step that has led back to the same state, and was performed. */
function doneWords({ flow, words, here }: Stage): string | undefined {
  const { state, notice, performed } = flow.view;
  const action = performed === null || state.error || notice ? undefined : state.actions[performed];
  return action && actionWords(words, action.action, action.description, here).done;
}

/** The shape of what is about to come, while a script finds out what this browser can do. */
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
