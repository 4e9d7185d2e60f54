import { createRoot, type Root } from "react-dom/client";
import { type Language, languageTags } from "#words/language-tags";
import { translations } from "#words/translations";
import { Confirmation } from "../../components/confirmation/confirmation.tsx";
import { Login } from "../../components/flow/login.tsx";
import { FrameLogin } from "../../components/frame/frame-login.tsx";
import { confirmations } from "../../components/gallery/confirmations.ts";
import { type Drawing, gallery } from "../../components/gallery/gallery.ts";
import * as react from "../../packages/react/src/index.tsx";
import { stillFetch } from "./still-fetch.ts";

/** The ways in which an application shows a flow. */
export type Embedding = "page" | "frame" | "react" | "element";

export interface Shown {
  /** A drawing of the gallery, or of the confirmation page. */
  name: string;
  embedding: Embedding;
  language: Language;
}

/** What a document of the studio offers to its tests. */
export interface Stage {
  /** The names of what can be drawn in an embedding. */
  names(embedding: Embedding): string[];
  languages: readonly Language[];
  /** Draws one, makes its step, and opens what it wants open. */
  draw(shown: Shown): Promise<void>;
}

declare global {
  interface Window {
    stage: Stage;
  }
}

const address = "https://login.example/";
const navigate = () => {};
const byName = new Map(gallery.map((drawing) => [drawing.name, drawing]));
const pages: Readonly<Record<string, (typeof confirmations)[keyof typeof confirmations]>> = confirmations;

let root: Root | null = null;

window.stage = {
  languages: languageTags,
  names(embedding) {
    if (embedding === "page") return [...byName.keys(), ...Object.keys(pages)];
    // An application's page is not told of a return, a redirect, or a flow that is not started.
    return gallery
      .filter(({ version, providerReturn, redirectTo }) => version > 0 && !providerReturn && !redirectTo)
      .map(({ name }) => name);
  },
  async draw({ name, embedding, language }) {
    root?.unmount();
    // A page of an application has its own landmark around what it embeds.
    const container = document.createElement(
      embedding === "react" || embedding === "element" ? "main" : "div",
    );
    document.body.replaceChildren(container);
    document.body.className = embedding === "page" || embedding === "frame" ? "stile-body" : "";
    document.documentElement.lang = language;
    history.replaceState(null, "", "/");
    // A component goes on with the flow of the drawing before, as after a reload.
    sessionStorage.clear();
    scrollTo(0, 0);
    const content = pages[name];
    const drawing = byName.get(name);
    if (drawing) globalThis.fetch = stillFetch(drawing);
    if (embedding === "element" && drawing) container.replaceChildren(elementOf(drawing, language));
    else {
      root = createRoot(container);
      if (content) root.render(<ConfirmationPage content={content} language={language} />);
      else if (drawing) root.render(<FlowOf drawing={drawing} embedding={embedding} language={language} />);
    }
    if (content) await until(() => container.querySelector("h1") !== null);
    else if (drawing) await begin(drawing, container);
  },
};

/** Ceremonies of this page wait for an authenticator that is never touched. */
Object.assign(CredentialsContainer.prototype, {
  get: () => new Promise(() => {}),
  create: () => new Promise(() => {}),
});

/** An authenticator that does not answer, either. */
globalThis.EventSource = class extends EventTarget {
  close() {}
} as unknown as typeof EventSource;

function ConfirmationPage({ content, language }: { content: (typeof pages)[string]; language: Language }) {
  const { confirmation } = translations[language];
  return (
    <Confirmation
      {...{ content, language, navigate }}
      words={confirmation}
      service="Stile"
      address="/passkeys/t/transaction/confirm"
    />
  );
}

interface FlowProps {
  drawing: Drawing;
  embedding: Embedding;
  language: Language;
}

function FlowOf({ drawing, embedding, language }: FlowProps) {
  const { flow: type, state, version, redirectTo, providerReturn = null } = drawing;
  const { flow: words, frame } = translations[language];
  const initial = { version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) };
  if (embedding === "page")
    return (
      <Login
        {...{ type, initial, words, language, address, providerReturn, navigate }}
        service="Stile"
        signup
      />
    );
  if (embedding === "frame")
    return (
      <FrameLogin
        {...{ type, initial, words, language, providerReturn }}
        frameWords={frame}
        page={{ origin: "https://shop.example" }}
        ownOrigin={new URL(address).origin}
        theme={undefined}
        signup
      />
    );
  if (type === "profile") return <react.Account url={address} language={language} />;
  return <react.Login url={address} language={language} flow={type === "registration" ? type : "login"} />;
}

function elementOf({ flow }: Drawing, language: Language): HTMLElement {
  const element = document.createElement(flow === "profile" ? "stile-account" : "stile-login");
  element.setAttribute("url", address);
  element.setAttribute("language", language);
  if (flow === "registration") element.setAttribute("flow", flow);
  return element;
}

/** Waits for the drawing, makes its step, and opens what it wants open. */
async function begin({ state, step, opened }: Drawing, container: HTMLElement): Promise<void> {
  await until(() => container.querySelector(`[data-state="${state.name}"]`) !== null);
  await settled(container);
  if (step) {
    const selector = `form:has(input[name=action][value="${step.action}"])`;
    const form = container.querySelector<HTMLFormElement>(selector);
    if (!form) throw new Error(`no form performs ${step.action}`);
    for (const [name, value] of Object.entries(step.input)) {
      const field = form.elements.namedItem(name);
      if (field instanceof HTMLInputElement) field.value = value;
    }
    const before = container.innerHTML;
    form.requestSubmit();
    await until(() => container.innerHTML !== before);
    if (step.answer === "lost") await until(() => container.querySelector(".stile-alert") !== null);
    await settled(container);
  }
  if (opened) for (const details of container.querySelectorAll("details")) details.open = true;
}

/** Waits for what follows without a timer. The effects of Preact, in the element, follow a frame. */
async function settled(container: HTMLElement): Promise<void> {
  if (container.querySelector("stile-login, stile-account"))
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
}

/** Waits for a condition; a test that waits in vain ends by its own limit. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn += 1)
    if (turn < 100) await nextTurn();
    // It waits for the network.
    else await new Promise((resolve) => setTimeout(resolve, 5));
}

const turns = new MessageChannel();

/** Lets every task run that is due, React's among them. A browser makes each of many timers wait for 4 ms. */
function nextTurn(): Promise<unknown> {
  return new Promise((resolve) => {
    turns.port1.onmessage = resolve;
    turns.port2.postMessage(null);
  });
}
