import { useId } from "react";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { ActionForm, type ActionLook } from "./action-form.tsx";
import { arrange, hasInputError, waitOf } from "./arrange.ts";
import { ceremonyOf, ceremonyToBegin, destinationOf } from "./ceremonies.ts";
import type { FlowType } from "./flow-server.ts";
import { Payloads } from "./payloads.tsx";
import { type Flow, isRefusal } from "./use-flow.ts";
import { useFocus } from "./use-focus.ts";
import { actionWords, errorText, fill, stateWords, type Words } from "./words/words.ts";

export interface StateViewProps {
  flow: Flow;
  type: FlowType;
  words: Words;
  /** A script runs. */
  live: boolean;
  /** Begins the ceremony of this state again. */
  beginAgain: () => void;
}

/** Draws any state: its words, what it tells, and a form for each action that is a person's to perform. */
export function StateView({ flow, type, words, live, beginAgain }: StateViewProps) {
  const { state, busy, performed, subject, leaving } = flow.view;
  const done = doneWords(flow, words);
  const section = useFocus(flow, live, done !== undefined);
  const titleId = useId();
  const { title, sentence, sentenceAbout, end } = stateWords(words, state.name);
  const ceremony = ceremonyOf(state);
  const wait = waitOf(state, performed);
  const refused = isRefusal(state);
  const stuck = !refused && !end && Object.keys(state.actions).length === 0;
  const destination = destinationOf(state, leaving);
  const waiting = ceremony?.when === "at once" && !state.error ? ceremony.waiting : undefined;
  const mayBeginAgain =
    live && ceremony?.when === "at once" && state.error && ceremonyToBegin(state, true) !== null;
  const { back, forms, toggles, choices, quiet } = arrange(
    state,
    ceremony?.action ?? null,
    mayBeginAgain === true,
  );

  const draw = (look: ActionLook) => (action: (typeof forms)[number]) => (
    <ActionForm
      key={action.action}
      {...{ action, look, flow, type, words, live }}
      wait={wait?.action === action.action ? wait.seconds : 0}
    />
  );
  const choiceLook = forms.length > 0 ? "secondary" : choices.length > 1 ? "choice" : "primary";

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
        {back && draw("back")(back)}
        {waiting === "prompt" && <Emblem icon="passkey" moving />}
        {end && <Emblem icon="check" />}
        <h1 className="stile-title" id={titleId} tabIndex={-1}>
          {title}
        </h1>
        {destination ? (
          <p className="stile-sentence" role="status">
            <a href={destination.href}>{fill(words.page.returning, { host: destination.host })}</a>
          </p>
        ) : (
          <Sentence
            text={stuck ? words.page.nothingToDo : subject && sentenceAbout ? sentenceAbout : sentence}
            subject={subject}
          />
        )}
        <Problems flow={flow} words={words} told={hasInputError(forms)} />
        {done && (
          <Alert tone="news">
            <p>{done}</p>
          </Alert>
        )}
        <Payloads payload={state.payload} words={words} />
        {mayBeginAgain && (
          <Button tone="primary" type="button" busy={busy !== null} onClick={beginAgain}>
            {words.page.tryAgain}
          </Button>
        )}
        {forms.slice(0, 1).map(draw("primary"))}
        {toggles.map(draw("toggle"))}
        {forms.slice(1).map(draw("secondary"))}
        {forms.length > 0 && choices.length > 0 && <p className="stile-or">{words.page.or}</p>}
        {choices.length > 0 && <div className="stile-choices">{choices.map(draw(choiceLook))}</div>}
        {quiet.length > 0 && <div className="stile-quiet">{quiet.map(draw("link"))}</div>}
        {refused && <StartAgain flow={flow} type={type} words={words} wait={wait?.seconds ?? 0} />}
      </div>
    </section>
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

function Sentence({ text, subject }: { text: string | undefined; subject: string | null }) {
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
function doneWords({ view: { state, notice, performed } }: Flow, words: Words): string | undefined {
  const action = performed === null || state.error || notice ? undefined : state.actions[performed];
  return action && actionWords(words, action.action, action.description).done;
}

/** What is wrong with the state as a whole, and what there is to tell beside it. */
function Problems({ flow, words, told }: { flow: Flow; words: Words; told: boolean }) {
  const { state, notice, busy } = flow.view;
  const { error } = state;
  // What stands beside a field need not be said twice.
  const shown = error && !(told && error.code === "form_data_invalid_error") ? error : null;
  return (
    <>
      {notice && (
        <Alert tone={calm.has(notice) ? "news" : "problem"}>
          <p>{errorText(words, { code: notice })}</p>
          {notice === "connection_missing" && (
            <Button tone="link" type="button" busy={busy !== null} onClick={() => void flow.retry()}>
              {words.page.tryAgain}
            </Button>
          )}
        </Alert>
      )}
      {shown && shown.code !== notice && (
        <Alert tone="problem">
          <p>{errorText(words, shown)}</p>
        </Alert>
      )}
    </>
  );
}

/** Notices that report no failure of anybody's. */
const calm = new Set([
  "connection_lost",
  "connection_back",
  "page_out_of_date",
  "page_renewed",
  "passkey_cancelled",
]);

/** The way out of a flow that has none of its own. It works as a plain link too. */
function StartAgain({ flow, type, words, wait }: { flow: Flow; type: FlowType; words: Words; wait: number }) {
  const left = useCountdown(wait, flow.view.state);
  return (
    <a
      className="stile-button stile-button-primary"
      href={`/?flow=${type}`}
      aria-disabled={left > 0 || undefined}
      onClick={(event) => {
        event.preventDefault();
        if (left === 0) void flow.restart();
      }}
    >
      <span className="stile-button-text">
        {left > 0 ? fill(words.page.tryAgainIn, { time: clockTime(left) }) : words.page.startAgain}
      </span>
    </a>
  );
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
