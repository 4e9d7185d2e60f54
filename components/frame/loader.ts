import { signInOrOpen } from "../embed/sign-in.ts";
import type { EmbeddingOptions, SignInOptions } from "../flow/embedding.ts";
import { type EmbeddedFrame, embed } from "./embed.ts";

/**
 * The loader of the frame, served at `/embed.js`. It defines `Stile.embed`, which shows a flow in a frame, and
 * `Stile.signIn`, which signs in behind a button of the page:
 *
 *   <script src="https://login.example.com/embed.js"></script>
 *   <div id="sign-in"></div>
 *   <script>Stile.embed("#sign-in", { codeChallenge, onSuccess: ({ code }) => … });</script>
 */

/** Digest of the part with the immediate mode (Subresource Integrity), which the build sets. */
declare const SIGN_IN_INTEGRITY: string;

/** The service that this script came from. */
const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : "";
const service = script.replace(/\/embed\.js(?:[?#].*)?$/, "");

/** Options of the loader: `url` defaults to the service that this script came from. */
type Loaded<Options> = Omit<Options, "url" | "otherwise"> & { url?: string };

interface SignInWithFrame extends Loaded<SignInOptions> {
  otherwise?: "frame" | "page";
  /** The element that holds the frame, or its selector; not needed for the page. */
  place?: string | Element;
}

/** The part with the immediate mode. A page that pins this script by its integrity thereby pins that part as well. */
let part: Promise<typeof import("../embed/immediate-sign-in.ts")> | null = null;

function loadPart(): Promise<typeof import("../embed/immediate-sign-in.ts")> {
  const src = `${service}/embed-sign-in.js`;
  part ??= new Promise<void>((resolve, reject) => {
    const element = document.createElement("script");
    Object.assign(element, { type: "module", src, crossOrigin: "anonymous", integrity: SIGN_IN_INTEGRITY });
    element.onload = () => resolve();
    element.onerror = reject;
    document.head.append(element);
  }).then(() => import(src));
  part.catch(() => {
    part = null;
  });
  return part;
}

let attempt: Promise<EmbeddedFrame | null> | null = null;

/**
 * Signs in with a passkey that the browser offers at once, else in the frame or on the hosted page. Call it in the handler
 * of a click. While it is under way, further calls wait for it.
 *
 * @returns the frame; null if the user is signed in, or goes to another page
 */
function signIn({ place, ...options }: SignInWithFrame): Promise<EmbeddedFrame | null> {
  const { otherwise = "frame", url = service, language } = options;
  if (otherwise === "frame" && !place)
    return Promise.reject(new Error("Stile.signIn: the frame needs a place"));
  const asked = { ...options, otherwise, url };
  const tag = language || document.documentElement.lang || navigator.language;
  attempt ??= signInOrOpen(asked, tag, loadPart)
    .then((open) => open && embed(place ?? "", asked))
    .finally(() => {
      attempt = null;
    });
  return attempt;
}

Object.assign(globalThis, {
  Stile: {
    embed: (place: string | Element, options: Loaded<EmbeddingOptions> = {}) =>
      embed(place, { ...options, url: options.url ?? service }),
    signIn,
  },
});
