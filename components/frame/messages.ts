import type { FlowResult } from "../flow/embedding.ts";
import type { FlowAnswer, FlowType } from "../flow/flow-server.ts";

/** The page that holds the frame, in the names of the query of `/embed`. */
export interface FramePage {
  origin: string;
  codeChallenge?: string;
}

/** Messages from the frame to its page. `embed.js` reads them. */
export type FrameMessage =
  | { type: "stile:success"; result: FlowResult }
  | { type: "stile:statechange"; name: string }
  | { type: "stile:error"; code: string; message: string }
  | { type: "stile:title"; title: string }
  | { type: "stile:resize"; height: number };

/** The step that a window performs for the frame. */
export interface WindowStep {
  action: string;
  input: Record<string, unknown>;
}

/** Messages from the frame to its window, which is of the same origin. */
export interface ToWindow {
  type: "stile:continue";
  flow: FlowType;
  page: FramePage;
  /** The sealed flow; null where the frame has none, and the window starts one. */
  token: string | null;
  step: WindowStep | null;
}

/** Messages from the window to the frame. */
export type FromWindow =
  | { type: "stile:window-ready" }
  | { type: "stile:window-back"; token: string }
  | { type: "stile:window-success"; answer: FlowAnswer };

/** The value of the header that names the frame to the service. */
export function frameHeader(page: FramePage): string {
  return new URLSearchParams(parametersOf(page)).toString();
}

/** The address of a frame in the same page, with another flow. */
export function frameAddress(
  base: string,
  page: FramePage,
  { flow, language, theme }: { flow: FlowType; language: string; theme: "light" | "dark" | undefined },
): string {
  const query = { ...parametersOf(page), flow, lang: language, ...(theme ? { theme } : {}) };
  return `${base}/embed?${new URLSearchParams(query)}`;
}

function parametersOf({ origin, codeChallenge }: FramePage): Record<string, string> {
  return { origin, ...(codeChallenge === undefined ? {} : { code_challenge: codeChallenge }) };
}

/**
 * Listens for the messages of one window of this origin; messages of others are ignored.
 *
 * @returns a function that ends it
 */
export function listenTo<Message extends { type: string }>(
  from: Window,
  receive: (message: Message) => void,
): () => void {
  const onMessage = ({ origin, source, data }: MessageEvent) => {
    const isOwn = origin === location.origin && source === from;
    if (isOwn && typeof data === "object" && data !== null && typeof data.type === "string") receive(data);
  };
  addEventListener("message", onMessage);
  return () => removeEventListener("message", onMessage);
}
