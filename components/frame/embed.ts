import type { EmbeddingOptions, FlowResult } from "../flow/embedding.ts";
import type { FrameMessage } from "./messages.ts";

/** A frame in a page. */
export interface EmbeddedFrame {
  frame: HTMLIFrameElement;
  /** Removes it, and reports nothing more. */
  remove(): void;
}

/** The least height of a frame, in pixels. */
const MIN_HEIGHT_PX = 600;
const MAX_HEIGHT_PX = 10_000;

/** How long a frame that has loaded may take until its first message. */
const ANSWER_MS = 15_000;

const base64url = (bytes: ArrayBuffer | Uint8Array<ArrayBuffer>) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");

/**
 * Shows a flow in a frame.
 *
 * @param place the element that holds the frame, or its selector
 * @throws Error if there is no such element
 */
export function embed(place: string | Element, options: EmbeddingOptions): EmbeddedFrame {
  const holder = typeof place === "string" ? document.querySelector(place) : place;
  if (!holder) throw new Error(`Stile.embed: there is no element ${place}`);
  const { url, flow = "login", codeChallenge } = options;
  const { onSuccess, onStateChange, onError } = options;
  const service = new URL(url);
  const verifier = codeChallenge === true ? base64url(crypto.getRandomValues(new Uint8Array(32))) : null;
  const frame = document.createElement("iframe");
  frame.allow = "publickey-credentials-get; publickey-credentials-create";
  frame.title = "Sign in";
  // Room for most states: browsers ignore clicks into a frame whose size has just changed.
  frame.style.cssText = `display:block;width:100%;min-height:${MIN_HEIGHT_PX}px;border:0;color-scheme:${options.theme ?? "light dark"}`;
  let isAnswering = false;
  let isRemoved = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const shown = { width: 0, height: 0 };

  function open(challenge: string | null): void {
    if (isRemoved) return;
    const query = new URLSearchParams({ origin: location.origin, flow });
    if (challenge) query.set("code_challenge", challenge);
    if (options.language) query.set("lang", options.language);
    if (options.theme) query.set("theme", options.theme);
    frame.src = `${url.replace(/\/$/, "")}/embed?${query}`;
    holder?.replaceChildren(frame);
  }

  /** A frame that shows something else, or whose scripts do not arrive, sends no message. */
  function expectAnswer(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!isAnswering)
        onError?.({ code: "connection_missing", message: "The frame of the sign-in does not answer." });
    }, ANSWER_MS);
  }

  /**
   * The frame grows with its content, and shrinks only when its width changes: the next click would be ignored.
   *
   * @param content height of the content, in pixels
   */
  function resize(content: unknown): void {
    const { clientWidth: width } = frame;
    const height = Math.min(Math.max(Number(content) || 0, MIN_HEIGHT_PX), MAX_HEIGHT_PX);
    if (width === shown.width && height <= shown.height) return;
    Object.assign(shown, { width, height });
    frame.style.height = `${height}px`;
  }

  const withVerifier = (result: FlowResult): FlowResult =>
    result.kind === "code" && verifier ? { ...result, codeVerifier: verifier } : result;

  function receive({ origin, source: sender, data }: MessageEvent<FrameMessage>): void {
    if (origin !== service.origin || sender !== frame.contentWindow) return;
    if (typeof data !== "object" || data === null) return;
    isAnswering = true;
    if (data.type === "stile:resize") resize(data.height);
    else if (data.type === "stile:title") frame.title = String(data.title);
    else if (data.type === "stile:statechange") onStateChange?.({ name: data.name });
    else if (data.type === "stile:error") onError?.({ code: data.code, message: data.message });
    else if (data.type === "stile:success") onSuccess?.(withVerifier(data.result));
  }

  addEventListener("message", receive);
  frame.addEventListener("load", expectAnswer);
  if (verifier)
    void crypto.subtle
      .digest("SHA-256", new TextEncoder().encode(verifier))
      .then((digest) => open(base64url(digest)));
  else open(typeof codeChallenge === "string" ? codeChallenge : null);
  return {
    frame,
    remove() {
      isRemoved = true;
      removeEventListener("message", receive);
      clearTimeout(timer);
      frame.remove();
    },
  };
}
