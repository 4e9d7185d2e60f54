import { type ReactNode, useEffect, useRef, useState } from "react";
import { directionOf } from "#words/direction";
import type { FrameWords } from "#words/frame";
import { browserCapabilities } from "../flow/capabilities.ts";
import type { FlowAnswer, FlowType } from "../flow/flow-server.ts";
import type { ProviderReturn } from "../flow/provider-return.ts";
import { startFor } from "../flow/start-for.ts";
import { StateView } from "../flow/state-view.tsx";
import { type RunningFlowOptions, useRunningFlow } from "../flow/use-running-flow.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { frameCalls, windowAddress } from "./frame-server.ts";
import { type FramePage, type FromWindow, listenTo, type ToWindow, type WindowStep } from "./messages.ts";

export interface FrameWindowProps extends Pick<RunningFlowOptions, "words" | "language" | "providerReturn"> {
  frameWords: FrameWords;
  /** The origin of this service. */
  ownOrigin: string;
  base: string;
  /** The flow that a provider leads back to; null in a window that was just opened. */
  returned: { type: FlowType; page: FramePage; initial: FlowAnswer } | null;
}

interface Continued {
  type: FlowType;
  page: FramePage;
  initial: FlowAnswer;
  step: WindowStep | null;
  /** Whether the frame can go on with the flow afterwards. */
  returns: boolean;
  /** The result of a provider, for the flow that waits for it. */
  providerReturn: ProviderReturn | null;
}

/** The window in which the flow of a frame goes on, as far as the frame may not do it. */
export function FrameWindow({
  frameWords,
  base,
  language,
  returned,
  providerReturn,
  ...rest
}: FrameWindowProps) {
  const [continued, setContinued] = useState<Continued | null>(
    returned && { ...returned, step: null, returns: true, providerReturn: providerReturn ?? null },
  );
  const [attempt, setAttempt] = useState(1);
  const [failed, setFailed] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame is asked once in each attempt
  useEffect(() => {
    const { opener } = window;
    if (continued || !opener) return;
    const stop = listenTo<ToWindow>(opener, ({ type: message, flow, page, token, step }) => {
      if (message !== "stile:continue") return;
      stop();
      const calls = frameCalls(base, language, page);
      const answer = token === null ? calls.current(flow) : calls.goOn(flow, token);
      answer.then(
        (initial) =>
          setContinued({ type: flow, page, initial, step, returns: token !== null, providerReturn: null }),
        () => setFailed(true),
      );
    });
    tellFrame({ type: "stile:window-ready" });
    return stop;
  }, [attempt]);

  const askAgain = () => {
    setFailed(false);
    setAttempt(attempt + 1);
  };

  return (
    <WindowCard language={language}>
      {continued ? (
        <ContinuedFlow
          key={continued.type}
          {...{ frameWords, base, language, continued, ...rest }}
          onOther={setContinued}
        />
      ) : failed ? (
        <WindowFailed words={rest.words} askAgain={askAgain} />
      ) : (
        <WindowSentence>{rest.words.page.working}</WindowSentence>
      )}
    </WindowCard>
  );
}

/** The card of the window. */
export function WindowCard({ language, children }: { language: string; children: ReactNode }) {
  return (
    <main className="stile-page" lang={language} dir={directionOf(language)}>
      <div className="stile-card">{children}</div>
    </main>
  );
}

/** The flow of the frame could not be loaded. */
export function WindowFailed({
  words: { errors, page },
  askAgain,
}: Pick<FrameWindowProps, "words"> & { askAgain: () => void }) {
  return (
    <div className="stile-content">
      <h1 className="stile-title">{page.errorTitle}</h1>
      <Alert tone="error">{errors.connection_missing}</Alert>
      <Button tone="primary" type="button" onClick={askAgain}>
        {page.tryAgain}
      </Button>
    </div>
  );
}

/** All that the window has to say before the flow and after it. */
export function WindowSentence({ children }: { children: string }) {
  return (
    <div role="status">
      <h1 className="stile-title">{children}</h1>
    </div>
  );
}

/** Sends a message to the frame that opened this window, which is of this origin. */
function tellFrame(message: FromWindow): void {
  const { opener } = window;
  if (opener) opener.postMessage(message, location.origin);
}

/** States of a step that only a window can perform. */
const passingStates = new Set([
  "thirdparty",
  "onboarding_verify_passkey_attestation",
  "webauthn_credential_verification",
]);

function ContinuedFlow({
  frameWords,
  ownOrigin,
  base,
  language,
  words,
  continued: { type, page, initial, step, returns, providerReturn },
  onOther,
}: Omit<FrameWindowProps, "returned" | "providerReturn"> & {
  continued: Continued;
  /** Shows another flow of the frame. */
  onOther: (other: Continued) => void;
}) {
  const [calls] = useState(() => frameCalls(base, language, page));
  const [done, setDone] = useState(false);
  const openFlow = async (other: FlowType, identifier?: string) => {
    const capabilities = await browserCapabilities();
    const started =
      identifier === undefined ? calls.start(other, capabilities) : startFor(calls, identifier, capabilities);
    started.then(
      (initial) => onOther({ type: other, page, initial, step: null, returns: false, providerReturn: null }),
      () => flow.showNotice("connection_missing"),
    );
  };
  const options = { type, initial, words, language, base, openFlow, providerReturn };
  const running = useRunningFlow({ ...options, address: ownOrigin + windowAddress(base) }, () => calls);
  const { flow } = running.stateView.context;
  const { state, version, busy } = flow.view;
  const begun = useRef(step === null && providerReturn === null);
  const unsavedCodes = running.stateView.unsavedCodes.length > 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the step is performed once
  useEffect(() => {
    if (step && Object.hasOwn(state.actions, step.action)) void flow.act(step.action, step.input);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each state is judged once
  useEffect(() => {
    if (state !== initial.state) begun.current = true;
    if (busy !== null || done || unsavedCodes) return;
    if (state.name === "success") {
      setDone(true);
      tellFrame({ type: "stile:window-success", answer: { version, state } });
      window.close();
      return;
    }
    const isPassed = begun.current && step !== null && !state.error && !passingStates.has(state.name);
    if (!isPassed || !returns || !window.opener) return;
    setDone(true);
    const sealed = calls.move(type).catch(() => null);
    void sealed.then((token) => {
      // The flow goes on in this window.
      if (token === null) return setDone(false);
      tellFrame({ type: "stile:window-back", token });
      window.close();
    });
  }, [state, busy, unsavedCodes]);

  if (done) return <WindowSentence>{frameWords.closeWindow}</WindowSentence>;
  return <StateView key={state.name} {...running.stateView} />;
}
