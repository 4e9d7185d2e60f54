import { createTRPCClient, httpLink } from "@trpc/client";
import type { AppRouter } from "#server/http/trpc/router";
import { browserCapabilities } from "../flow/capabilities.ts";
import { isErrorAnswer } from "../flow/error-answer.ts";
import { type FlowAnswer, type FlowServer, type FlowType, flowServer } from "../flow/flow-server.ts";
import { keepsCookies, mayUse } from "../flow/permissions.ts";
import { REQUEST_TIMEOUT_MS } from "../flow/request-timeout.ts";
import {
  type FramePage,
  type FromWindow,
  frameHeader,
  listenTo,
  type ToWindow,
  type WindowStep,
} from "./messages.ts";

/** The calls of a page that runs for a frame. */
export interface FrameCalls extends FlowServer {
  /** Seals the flow for another window; null if this page holds none. */
  move(type: FlowType): Promise<string | null>;
  /** Goes on with a sealed flow. */
  goOn(type: FlowType, token: string): Promise<FlowAnswer>;
}

/** @param base the prefix of every address of this service: empty, or `/t/{tenant}` */
export function frameCalls(base: string, language: string, page: FramePage): FrameCalls {
  const url = `${base}/api/trpc`;
  const headers = { "x-stile-frame": frameHeader(page) };
  const client = createTRPCClient<AppRouter>({
    links: [httpLink({ url, headers: { "x-language": language, ...headers } })],
  });
  const options = () => ({ signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  return {
    ...flowServer(url, language, { headers }),
    move: (type) => client.flow.move.mutate({ type }, options()),
    goOn: async (type, token) =>
      (await client.flow.continue.mutate({ type, token }, options())) as FlowAnswer,
  };
}

/** What the frame shows beside or in place of the flow. */
export type WindowStatus = "none" | "open" | "blocked";

/** The server of a frame, which goes on in a window where the browser lets the frame do less. */
export interface FrameServer extends FlowServer {
  /** Goes on in a window of its own. Call it in the handler of a click. The next `current` waits for the result. */
  openWindow(type: FlowType): void;
  /** Shows the window again. */
  showWindow(): void;
  /** Closes the window, and goes on in the frame. */
  closeWindow(): void;
  status(): WindowStatus;
  subscribe(listener: () => void): () => void;
}

/** Actions that lead to an identity provider, which no frame shows. */
const providerActions = new Set(["thirdparty_oauth", "connect_thirdparty_oauth_provider"]);

/** Actions that lead to the creation of a passkey or security key. */
const creationActions = new Set([
  "webauthn_generate_creation_options",
  "webauthn_credential_create",
  "security_key_create",
]);

const POLL_INTERVAL_MS = 300;

/** The address of the window's page. A provider returns to it. */
export function windowAddress(base: string): string {
  return `${base}/embed?window=1`;
}

export function frameServer(base: string, language: string, page: FramePage): FrameServer {
  const calls = frameCalls(base, language, page);
  const listeners = new Set<() => void>();
  let status: WindowStatus = "none";
  let opened: Window | null = null;
  let awaited: Promise<FlowAnswer> | null = null;

  function become(next: WindowStatus): void {
    status = next;
    for (const listener of listeners) listener();
  }

  /** Whether the browser would refuse the step, or a part of it, in this frame. */
  function needsWindow({ action, input }: WindowStep): boolean {
    if (providerActions.has(action)) return true;
    if (action === "webauthn_generate_request_options") return !mayUse("publickey-credentials-get");
    return (
      creationActions.has(action) && input.conditional !== true && !mayUse("publickey-credentials-create")
    );
  }

  async function inWindow(type: FlowType, step: WindowStep | null): Promise<FlowAnswer> {
    // The window opens in the click itself, before anything is awaited.
    const child = window.open(
      `${windowAddress(base)}&lang=${language}`,
      "stile",
      "popup,width=480,height=720",
    );
    opened = child;
    if (!child) {
      become("blocked");
      return calls.current(type);
    }
    become("open");
    try {
      return await resultOf(child, type, step);
    } finally {
      opened = null;
      become("none");
    }
  }

  /** The flow after the user has closed the window: as it was, or another one if the window has gone on with it. */
  async function afterClosing(type: FlowType): Promise<FlowAnswer> {
    const answer = await calls.current(type);
    return isErrorAnswer(answer.state) && answer.state.status === 403
      ? calls.start(type, await browserCapabilities())
      : answer;
  }

  function resultOf(child: Window, type: FlowType, step: WindowStep | null): Promise<FlowAnswer> {
    return new Promise((resolve, reject) => {
      const end = (answer: Promise<FlowAnswer> | FlowAnswer) => {
        clearInterval(timer);
        stop();
        Promise.resolve(answer).then(resolve, reject);
      };
      const receive = async (message: FromWindow) => {
        if (message.type === "stile:window-ready") {
          // A window that is loaded again asks again, and a token is valid once.
          const token = keepsCookies("frame") ? await calls.move(type) : null;
          const sent: ToWindow = { type: "stile:continue", flow: type, page, token, step };
          child.postMessage(sent, location.origin);
        } else if (message.type === "stile:window-back") end(calls.goOn(type, message.token));
        else if (message.type === "stile:window-success") end(message.answer);
      };
      const stop = listenTo<FromWindow>(child, (message) => {
        void receive(message).catch((error: unknown) => {
          // The flow goes on in the frame, where the step can be repeated.
          child.close();
          end(Promise.reject(error));
        });
      });
      const timer = setInterval(() => {
        if (child.closed) end(afterClosing(type));
      }, POLL_INTERVAL_MS);
    });
  }

  return {
    ...calls,
    act: (type, action, version, input, ...more) =>
      needsWindow({ action, input })
        ? inWindow(type, { action, input })
        : calls.act(type, action, version, input, ...more),
    current(type) {
      const answer = awaited ?? calls.current(type);
      awaited = null;
      return answer;
    },
    openWindow(type) {
      awaited = inWindow(type, null);
    },
    showWindow: () => opened?.focus(),
    closeWindow: () => opened?.close(),
    status: () => status,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
