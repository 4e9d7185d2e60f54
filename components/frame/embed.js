// @ts-check
/**
 * The loader of the frame, served unchanged at `/embed.js`. It defines `Stile.embed`, which shows a flow in a frame:
 *
 *   <script src="https://login.example.com/embed.js"></script>
 *   <div id="sign-in"></div>
 *   <script>Stile.embed("#sign-in", { codeChallenge, onSuccess: ({ code }) => … });</script>
 *
 * @typedef {import("../flow/embedding.ts").EmbeddingOptions} EmbeddingOptions
 * @typedef {import("../flow/embedding.ts").FlowResult} FlowResult
 * @typedef {import("./messages.ts").FrameMessage} FrameMessage
 * @typedef {{ Stile?: { embed: typeof embed } }} WithStile
 */

/** The address of the service that this script came from. */
const source = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : "";

/** @param {ArrayBuffer | Uint8Array} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");

/**
 * Shows a flow in a frame.
 *
 * @param {string | Element} place the element that holds the frame, or its selector
 * @param {Partial<EmbeddingOptions>} [options] `url` defaults to the service that this script came from
 * @returns {{ frame: HTMLIFrameElement, remove(): void }}
 */
function embed(place, options = {}) {
  const holder = typeof place === "string" ? document.querySelector(place) : place;
  if (!holder) throw new Error(`Stile.embed: there is no element ${place}`);
  const { url = source.replace(/\/embed\.js(?:[?#].*)?$/, ""), flow = "login", codeChallenge } = options;
  const { onSuccess, onStateChange, onError } = options;
  const service = new URL(url);
  const verifier = codeChallenge === true ? base64url(crypto.getRandomValues(new Uint8Array(32))) : null;
  const frame = document.createElement("iframe");
  frame.allow = "publickey-credentials-get; publickey-credentials-create";
  frame.title = options.language?.startsWith("de") ? "Anmeldung" : "Sign in";
  frame.style.cssText = "display:block;width:100%;min-height:400px;border:0;color-scheme:normal";

  /** @param {string | null} challenge */
  function open(challenge) {
    const query = new URLSearchParams({ origin: location.origin, flow });
    if (challenge) query.set("code_challenge", challenge);
    if (options.language) query.set("lang", options.language);
    if (options.theme) query.set("theme", options.theme);
    frame.src = `${url.replace(/\/$/, "")}/embed?${query}`;
    holder?.append(frame);
  }

  /** @param {FlowResult} result @returns {FlowResult} */
  const withVerifier = (result) =>
    result.kind === "code" && verifier ? { ...result, codeVerifier: verifier } : result;

  /** @param {MessageEvent<FrameMessage>} event */
  function receive({ origin, source: sender, data }) {
    if (origin !== service.origin || sender !== frame.contentWindow) return;
    if (typeof data !== "object" || data === null) return;
    if (data.type === "stile:resize") frame.style.height = `${Number(data.height) || 0}px`;
    else if (data.type === "stile:statechange") onStateChange?.({ name: data.name });
    else if (data.type === "stile:error") onError?.({ code: data.code, message: data.message });
    else if (data.type === "stile:success") onSuccess?.(withVerifier(data.result));
  }

  addEventListener("message", receive);
  if (verifier)
    void crypto.subtle
      .digest("SHA-256", new TextEncoder().encode(verifier))
      .then((digest) => open(base64url(digest)));
  else open(typeof codeChallenge === "string" ? codeChallenge : null);
  return {
    frame,
    remove() {
      removeEventListener("message", receive);
      frame.remove();
    },
  };
}

/** @type {WithStile} */ (globalThis).Stile = { embed };
