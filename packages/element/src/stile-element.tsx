import { createRoot, type Root } from "react-dom/client";
import { EmbeddedLogin } from "../../../components/embed/embedded-login.tsx";
import {
  type EmbeddedFlow,
  type EmbeddingOptions,
  eventOptions,
} from "../../../components/flow/embedding.ts";
import { wordSource } from "../../words.ts";
import styles from "./styles.css" with { type: "text" };

/**
 * The attributes `url`, `flow`, `language`, `theme` and `code-challenge` are the options of the same names. An empty
 * `code-challenge` lets the element make one.
 */
class StileLogin extends HTMLElement {
  static readonly observedAttributes = ["url", "flow", "language", "theme", "code-challenge"];
  #root: Root | null = null;

  connectedCallback(): void {
    addStyles(this.getRootNode());
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
      this.#root = null;
    });
  }

  protected flow(): EmbeddedFlow {
    return this.getAttribute("flow") === "registration" ? "registration" : "login";
  }

  #draw(): void {
    const url = this.getAttribute("url");
    if (!this.isConnected || !url) return;
    this.#root ??= createRoot(this);
    const language = this.getAttribute("language");
    const theme = this.getAttribute("theme");
    const codeChallenge = this.getAttribute("code-challenge");
    const options: EmbeddingOptions = {
      ...{ url, flow: this.flow() },
      ...(language ? { language } : {}),
      ...(theme === "light" || theme === "dark" ? { theme } : {}),
      ...(codeChallenge === null ? {} : { codeChallenge: codeChallenge || true }),
      ...this.#handlers(),
    };
    this.#root.render(<EmbeddedLogin {...options} source={wordSource} />);
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
class StileAccount extends StileLogin {
  protected override flow(): EmbeddedFlow {
    return "profile";
  }
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
