import { createRoot, type Root } from "react-dom/client";
import { EmbeddedLogin, languageOf } from "../../../components/embed/embedded-login.tsx";
import type { OpenLogin } from "../../../components/embed/immediate-sign-in.ts";
import { signInOrOpen } from "../../../components/embed/sign-in.ts";
import { leftFlow } from "../../../components/embed/use-embedded-flow.ts";
import {
  type EmbeddedFlow,
  type EmbeddingOptions,
  eventOptions,
  type FlowResult,
  type SignInOptions,
} from "../../../components/flow/embedding.ts";
import type { EmbeddedFrame } from "../../../components/frame/embed.ts";
import { wordSource } from "../../words.ts";
import styles from "./styles.css" with { type: "text" };

export type { FlowResult } from "../../../components/flow/embedding.ts";

declare global {
  interface HTMLElementTagNameMap {
    "stile-login": StileLogin;
    "stile-account": StileAccount;
  }

  /** The events bubble, and cross the border of a shadow tree: every element, document and window receives them. */
  interface GlobalEventHandlersEventMap {
    "stile-success": CustomEvent<FlowResult>;
    "stile-statechange": CustomEvent<{ name: string }>;
    "stile-error": CustomEvent<{ code: string; message: string }>;
  }
}

/** Loaded before the click: the browser allows a request for a few seconds after it. */
const loadImmediate = () => import("../../../components/embed/immediate-sign-in.ts");
const loadFrame = () => import("../../../components/frame/embed.ts");

/**
 * The attributes `url`, `flow`, `language`, `theme`, `code-challenge`, `otherwise`, `redirect-to` and `state` are the
 * options of the same names. An empty `code-challenge` lets the element make one. With `on-demand` the element shows
 * nothing until `signIn()` has something to show.
 */
export class StileLogin extends HTMLElement {
  static readonly observedAttributes = ["url", "flow", "language", "theme", "code-challenge", "on-demand"];
  #root: Root | null = null;
  #open: OpenLogin | null = null;
  #frame: EmbeddedFrame | null = null;
  #attempt: Promise<void> | null = null;

  connectedCallback(): void {
    addStyles(this.getRootNode());
    if (this.hasAttribute("on-demand")) void loadImmediate().catch(() => {});
    const options = this.#options();
    if (options && otherwiseOf(this) === "component" && leftFlow(options) !== null)
      this.#open = { begun: null };
    this.#draw();
  }

  /**
   * Signs in with a passkey or a password that the browser offers at once, else shows the login, which goes on where the
   * attempt has ended. Call it in the handler of a click. Does nothing while the element shows a flow.
   */
  signIn(): Promise<void> {
    const options = this.#options();
    if (!options || this.#root || this.#frame) return Promise.resolve();
    this.#attempt ??= this.#signIn(options).finally(() => {
      this.#attempt = null;
    });
    return this.#attempt;
  }

  async #signIn(options: EmbeddingOptions): Promise<void> {
    const otherwise = otherwiseOf(this);
    const redirectTo = this.getAttribute("redirect-to");
    const state = this.getAttribute("state");
    const asked: SignInOptions = {
      ...options,
      otherwise,
      ...(redirectTo === null ? {} : { redirectTo }),
      ...(state === null ? {} : { state }),
    };
    const open = await signInOrOpen(asked, languageOf(wordSource, options.language), loadImmediate);
    if (!open) return;
    if (otherwise === "frame") {
      const { embed } = await loadFrame();
      if (this.isConnected) this.#frame = embed(this, asked);
      return;
    }
    this.#open = open;
    this.#draw();
  }

  attributeChangedCallback(): void {
    this.#draw();
  }

  disconnectedCallback(): void {
    // An element that is moved is connected again at once.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#root?.unmount();
      this.#frame?.remove();
      this.#root = this.#frame = null;
      this.#open = null;
    });
  }

  protected flow(): EmbeddedFlow {
    return this.getAttribute("flow") === "registration" ? "registration" : "login";
  }

  #options(): EmbeddingOptions | null {
    const url = this.getAttribute("url");
    if (!this.isConnected || !url) return null;
    const language = this.getAttribute("language");
    const theme = this.getAttribute("theme");
    const codeChallenge = this.getAttribute("code-challenge");
    return {
      url,
      flow: this.flow(),
      ...(language ? { language } : {}),
      ...(theme === "light" || theme === "dark" ? { theme } : {}),
      ...(codeChallenge === null ? {} : { codeChallenge: codeChallenge || true }),
      ...this.#handlers(),
    };
  }

  #draw(): void {
    const options = this.#options();
    if (!options || (this.hasAttribute("on-demand") && !this.#open)) return;
    this.#root ??= createRoot(this);
    this.#root.render(<EmbeddedLogin {...options} source={wordSource} begun={this.#open?.begun ?? null} />);
  }

  #handlers(): Pick<EmbeddingOptions, (typeof eventOptions)[keyof typeof eventOptions]> {
    const entries = Object.entries(eventOptions).map(([event, option]) => [
      option,
      (detail: unknown) =>
        this.dispatchEvent(new CustomEvent(event, { detail, bubbles: true, composed: true })),
    ]);
    return Object.fromEntries(entries);
  }
}

/** The account of the signed-in user. Needs the session cookie, so the application is on the same site. */
export class StileAccount extends StileLogin {
  protected override flow(): EmbeddedFlow {
    return "profile";
  }
}

function otherwiseOf(element: Element): NonNullable<SignInOptions["otherwise"]> {
  const otherwise = element.getAttribute("otherwise");
  return otherwise === "frame" || otherwise === "page" ? otherwise : "component";
}

/** A constructed style sheet, which content security policies allow without `unsafe-inline`. */
let sheet: CSSStyleSheet | null = null;

function addStyles(root: Node): void {
  if (!(root instanceof Document || root instanceof ShadowRoot)) return;
  if (sheet === null) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

if (!customElements.get("stile-login")) {
  customElements.define("stile-login", StileLogin);
  customElements.define("stile-account", StileAccount);
}
