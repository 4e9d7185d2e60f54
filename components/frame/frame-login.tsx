"use client";

import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { FrameWords } from "#words/frame";
import { resultOf } from "../flow/embedding.ts";
import { keepsCookies } from "../flow/permissions.ts";
import { StateView } from "../flow/state-view.tsx";
import { type RunningFlow, type RunningFlowOptions, useRunningFlow } from "../flow/use-running-flow.ts";
import { codeOf, errorText } from "../flow/words.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { allowOwnScripts } from "../ui/script-policy.ts";
import { type FrameServer, frameServer, windowAddress } from "./frame-server.ts";
import type { FrameMessage, FramePage } from "./messages.ts";
import { useClickGuard } from "./use-click-guard.ts";

allowOwnScripts();

export interface FrameLoginProps extends Omit<RunningFlowOptions, "openFlow" | "navigate" | "address"> {
  frameWords: FrameWords;
  /** The page that holds the frame. */
  page: FramePage;
  /** The origin of this service, for addresses that a provider returns to. */
  ownOrigin: string;
  theme: "light" | "dark" | undefined;
}

/** A flow in a frame of another page: the flow alone, without brand and footer. */
export function FrameLogin({ frameWords, page, ownOrigin, theme, ...options }: FrameLoginProps) {
  const { type, language, base = "" } = options;
  const [server] = useState(() => frameServer(base, language, page));
  const running = useRunningFlow({ ...options, address: ownOrigin + windowAddress(base) }, () => server);
  const status = useSyncExternalStore(server.subscribe, server.status, () => "none" as const);
  const container = useRef<HTMLElement>(null);
  const ignored = useClickGuard(container);
  const keeps = useKeptCookies();
  useMessages(container, page, running, options.words);
  const { state } = running.stateView.context.flow.view;

  /** Goes on in a window; its result is that of the flow. */
  const goOn = () => {
    server.openWindow(type);
    void running.stateView.context.flow.renew();
  };

  return (
    <main ref={container} className="stile-frame" lang={language} data-theme={theme}>
      {ignored && <Alert tone="error">{frameWords[ignored]}</Alert>}
      {status === "blocked" && <Alert tone="error">{frameWords.blocked}</Alert>}
      {status === "open" ? (
        <OpenWindow server={server} words={frameWords} />
      ) : keeps || state.name === "success" ? (
        <StateView key={state.name} {...running.stateView} />
      ) : (
        <Notice text={frameWords.needsWindow}>
          <Button tone="primary" type="button" onClick={goOn}>
            {frameWords.openWindow}
          </Button>
        </Notice>
      )}
    </main>
  );
}

function OpenWindow({ server, words }: { server: FrameServer; words: FrameWords }) {
  return (
    <Notice text={words.waiting}>
      <Button tone="primary" type="button" onClick={() => server.showWindow()}>
        {words.showWindow}
      </Button>
      <Button tone="link" type="button" onClick={() => server.closeWindow()}>
        {words.cancel}
      </Button>
    </Notice>
  );
}

/** A sentence and what can be done about it. */
function Notice({ text, children }: { text: string; children: ReactNode }) {
  return (
    <section className="stile-state">
      <div className="stile-content">
        <p className="stile-sentence" role="status">
          {text}
        </p>
        {children}
      </div>
    </section>
  );
}

/** Whether the browser keeps cookies in this frame; assumed until it was tried. */
function useKeptCookies(): boolean {
  const [keeps, setKeeps] = useState(true);
  useEffect(() => setKeeps(keepsCookies()), []);
  return keeps;
}

/** Reports height, states, errors and the result to the page that holds the frame, and to no other. */
function useMessages(
  container: { current: HTMLElement | null },
  { origin, codeChallenge }: FramePage,
  { stateView }: RunningFlow,
  words: RunningFlowOptions["words"],
): void {
  const { state, notice, version } = stateView.context.flow.view;
  const unsavedCodes = stateView.unsavedCodes.length > 0;
  const send = useRef((message: FrameMessage) => {
    if (window.parent !== window) window.parent.postMessage(message, origin);
  });

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      send.current({ type: "stile:resize", height: Math.ceil(element.getBoundingClientRect().height) });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [container]);

  const isStarted = version > 0;
  useEffect(() => {
    if (isStarted) send.current({ type: "stile:statechange", name: state.name });
  }, [state.name, isStarted]);

  useEffect(() => {
    if (!state.error) return;
    send.current({ type: "stile:error", code: codeOf(state.error), message: errorText(words, state.error) });
  }, [state, words]);

  useEffect(() => {
    if (notice && Object.hasOwn(words.errors, notice))
      send.current({ type: "stile:error", code: notice, message: errorText(words, { code: notice }) });
  }, [notice, words]);

  const isSuccess = state.name === "success" && !unsavedCodes;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the result is reported once
  useEffect(() => {
    const result = resultOf(state);
    if (isSuccess && (result.kind === "code" || codeChallenge === undefined))
      send.current({ type: "stile:success", result });
  }, [isSuccess]);
}
