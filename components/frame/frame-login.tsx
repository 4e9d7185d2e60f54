import { type ReactNode, type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { directionOf } from "#words/direction";
import type { FrameWords } from "#words/frame";
import { useFlowEvents } from "../embed/use-flow-events.ts";
import { browserCapabilities } from "../flow/capabilities.ts";
import type { FlowType } from "../flow/flow-server.ts";
import { leaveWindow } from "../flow/framed-page.ts";
import { keepsCookies } from "../flow/permissions.ts";
import { startFor } from "../flow/start-for.ts";
import { StateLinks } from "../flow/state-links.tsx";
import { StateView } from "../flow/state-view.tsx";
import { SupportNumber, useSupportNumber } from "../flow/support-number.tsx";
import { type RunningFlow, type RunningFlowOptions, useRunningFlow } from "../flow/use-running-flow.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { type FrameServer, frameServer, type WindowStatus, windowAddress } from "./frame-server.ts";
import { type FrameMessage, type FramePage, frameAddress } from "./messages.ts";
import { type IgnoredClick, useClickGuard } from "./use-click-guard.ts";

export interface FrameLoginProps extends Omit<RunningFlowOptions, "openFlow" | "navigate" | "address"> {
  frameWords: FrameWords;
  /** The page that holds the frame. */
  page: FramePage;
  /** The origin of this service, for addresses that a provider returns to. */
  ownOrigin: string;
  theme: "light" | "dark" | undefined;
  /** Whether registration is enabled. */
  signup: boolean;
}

/** What a frame knows of its window, its browser and what lies over it. */
export interface FrameSituation {
  window: WindowStatus;
  /** Whether the browser keeps cookies in this frame. */
  keepsCookies: boolean;
  /** Why the last click was ignored, if it was. */
  ignored: IgnoredClick | null;
}

/** A flow in a frame of another page. */
export function FrameLogin(props: FrameLoginProps) {
  const { language, page, base = "" } = props;
  const [server] = useState(() => frameServer(base, language, page));
  const container = useRef<HTMLElement>(null);
  const situation = {
    window: useSyncExternalStore(server.subscribe, server.status, () => "none" as const),
    keepsCookies: useKeptCookies(),
    ignored: useClickGuard(container),
  };
  return <FrameView {...props} {...{ server, container, situation }} />;
}

export interface FrameViewProps extends FrameLoginProps {
  server: FrameServer;
  container: RefObject<HTMLElement | null>;
  situation: FrameSituation;
}

/** What a frame shows: the flow and its links, without brand, and what is to be said about the frame. */
export function FrameView({
  frameWords,
  page,
  ownOrigin,
  theme,
  signup,
  server,
  container,
  situation,
  ...options
}: FrameViewProps) {
  const { type, language, words, base = "" } = options;
  const { window: status, keepsCookies: keeps, ignored } = situation;
  const addressOf = (flow: FlowType) => frameAddress(base, page, { flow, language, theme });
  // Our other pages cannot be framed, so each flow opens in the frame.
  const openFlow = async (flow: FlowType, identifier?: string) => {
    // The flow holds the identifier: an address would name it in logs, and a page could put another one there.
    if (identifier !== undefined)
      await startFor(server, identifier, await browserCapabilities()).catch(() => null);
    location.assign(addressOf(flow));
  };
  const { number, noting } = useSupportNumber(options.initial);
  const running = useRunningFlow({ ...options, openFlow, address: ownOrigin + windowAddress(base) }, () =>
    noting(server),
  );
  useMessages(container, page, running, words);
  const { flow, copy, stateView } = running;
  const { state } = flow.view;
  const other = copy.other && (copy.other.flow === "login" || signup) ? copy.other : null;

  /** Goes on in a window; its result is that of the flow. */
  const goOn = () => {
    server.openWindow(type);
    void flow.renew();
  };

  // A form that is sent before the script has arrived is stopped by the policy of the frame, and Chromium then runs the
  // script no more.
  const waits = !stateView.context.live;

  return (
    <main ref={container} className="stile-frame" lang={language} dir={directionOf(language)} inert={waits}>
      {ignored && <Alert tone="error">{frameWords[ignored]}</Alert>}
      {status === "blocked" && <Alert tone="error">{frameWords.blocked}</Alert>}
      {status === "open" && <OpenWindow server={server} title={copy.title} words={frameWords} />}
      {/* What was typed is still there if the user closes the window. */}
      <div hidden={status === "open"}>
        {keeps || state.name === "success" ? (
          // Neither identity providers nor our other pages can be framed: a sign-out that goes on there leaves the frame.
          <StateView
            key={state.name}
            {...stateView}
            context={{ ...stateView.context, signedOutAddress: `${page.origin}/` }}
            navigate={leaveWindow}
          />
        ) : (
          <Notice title={copy.title} text={frameWords.needsWindow}>
            <Button tone="primary" type="button" onClick={goOn}>
              {frameWords.openWindow}
            </Button>
          </Notice>
        )}
      </div>
      {status !== "open" && (other || (state.links?.length ?? 0) > 0 || number !== null) && (
        <footer className="stile-footer">
          {other && (
            <p>
              {other.question} <a href={addressOf(other.flow)}>{other.label}</a>
            </p>
          )}
          <StateLinks state={state} words={words} />
          <SupportNumber number={number} words={words} />
        </footer>
      )}
    </main>
  );
}

function OpenWindow({ server, title, words }: { server: FrameServer; title: string; words: FrameWords }) {
  return (
    <Notice title={title} text={words.waiting} focused>
      <Button tone="primary" type="button" onClick={() => server.showWindow()}>
        {words.showWindow}
      </Button>
      <Button tone="link" type="button" onClick={() => server.closeWindow()}>
        {words.cancel}
      </Button>
    </Notice>
  );
}

/**
 * A sentence in place of the flow, and what can be done about it.
 *
 * @param title of the flow's state
 * @param focused whether it takes the place of what the user has pressed
 */
function Notice({
  title,
  text,
  focused = false,
  children,
}: {
  title: string;
  text: string;
  focused?: boolean;
  children: ReactNode;
}) {
  const sentence = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (focused) sentence.current?.focus();
  }, [focused]);
  return (
    <section className="stile-state">
      <div className="stile-content">
        <h1 className="stile-title">{title}</h1>
        <p ref={sentence} className="stile-sentence" role="status" tabIndex={focused ? -1 : undefined}>
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
  useEffect(() => setKeeps(keepsCookies("frame")), []);
  return keeps;
}

/** Reports height, title, states, errors and the result to the page that holds the frame, and to no other. */
function useMessages(
  container: { current: HTMLElement | null },
  { origin, codeChallenge }: FramePage,
  running: RunningFlow,
  words: RunningFlowOptions["words"],
): void {
  const { title } = running.copy;
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

  useEffect(() => send.current({ type: "stile:title", title }), [title]);

  useFlowEvents(
    {
      onStateChange: (change) => send.current({ type: "stile:statechange", ...change }),
      onError: (error) => send.current({ type: "stile:error", ...error }),
      onSuccess(result) {
        const isForPage = result.kind === "code" || codeChallenge === undefined;
        if (isForPage) send.current({ type: "stile:success", result });
      },
    },
    running,
    words,
  );
}
