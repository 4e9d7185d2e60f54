import type { ReactNode } from "react";
import { flushSync } from "react-dom";
import { createRoot, type Root } from "react-dom/client";
import { directionOf } from "#words/direction";
import { type Language, languageTags, type PageLanguage } from "#words/language-tags";
import { wordsOf } from "#words/words-of";
import { Login } from "../../components/flow/login.tsx";
import { FrameLogin } from "../../components/frame/frame-login.tsx";
import { type Drawing, gallery } from "../../components/gallery/gallery.ts";
import { pageDrawings } from "../../hosted/drawing/page-drawings.ts";
import { pagePictures } from "../../hosted/drawing/page-pictures.tsx";
import * as react from "../../packages/react/src/index.tsx";
import { messageDocument } from "../../server/http/answer/message-document.ts";
import { messages } from "../../server/http/answer/messages.ts";
import { lackOfContrast } from "./contrast.ts";
import { misfits } from "./misfits.ts";
import { stillFetch } from "./still-fetch.ts";

/** The ways in which an application shows a flow. */
export type Embedding = "page" | "frame" | "react" | "element";

export interface Shown {
  /** A drawing of the gallery, of a page without a flow, or of a document without a script. */
  name: string;
  embedding: Embedding;
  /** Pseudo-languages for the page and the frame alone. */
  language: PageLanguage;
}

/** What a document of the studio offers to its tests. */
export interface Stage {
  /** The names of what can be drawn in an embedding. */
  names(embedding: Embedding): string[];
  languages: readonly Language[];
  /** Draws one, makes its step, and opens what it wants open. */
  draw(shown: Shown): Promise<void>;
  /** Says what is drawn in another language; what was done in it stays. For pages and frames. */
  translate(language: PageLanguage): void;
  lackOfContrast: typeof lackOfContrast;
  misfits: typeof misfits;
}

declare global {
  interface Window {
    stage: Stage;
  }
}

const address = "https://login.example/";
const navigate = () => {};
const byName = new Map(gallery.map((drawing) => [drawing.name, drawing]));

let root: Root | null = null;
/** What `draw` has drawn. */
let current: Shown | null = null;

window.stage = {
  languages: languageTags,
  lackOfContrast,
  misfits,
  names(embedding) {
    if (embedding === "page")
      return [...byName.keys(), ...Object.keys(pagePictures), ...Object.keys(messages)];
    // An application's page is not told of a return, a redirect, or a flow that is not started, and asks for no consent.
    return gallery
      .filter(({ version, providerReturn, redirectTo }) => version > 0 && !providerReturn && !redirectTo)
      .filter(({ flow }) => flow !== "consent")
      .map(({ name }) => name);
  },
  async draw(shown) {
    const { name, embedding, language } = shown;
    current = shown;
    root?.unmount();
    root = null;
    // A page of an application has its own landmark around what it embeds.
    const container = document.createElement(
      embedding === "react" || embedding === "element" ? "main" : "div",
    );
    document.body.replaceChildren(container);
    document.body.className = embedding === "page" || embedding === "frame" ? "stile-body" : "";
    setLanguage(language);
    history.replaceState(null, "", "/");
    // A component goes on with the flow of the drawing before, as after a reload.
    sessionStorage.clear();
    scrollTo(0, 0);
    const drawing = byName.get(name);
    if (name in messages) return showMessage(messageOf(name, language));
    showMessage(undefined);
    if (drawing) globalThis.fetch = stillFetch(drawing);
    if (embedding === "element" && drawing) container.replaceChildren(elementOf(drawing, language));
    else {
      root = createRoot(container);
      root.render(contentOf(shown));
    }
    if (drawing) await begin(drawing, container);
    else await until(() => container.firstElementChild !== null);
  },
  translate(language) {
    if (!current) return;
    current = { ...current, language };
    setLanguage(language);
    if (root) flushSync(() => root?.render(contentOf(current as Shown)));
    else showMessage(messageOf(current.name, language));
  },
};

function setLanguage(language: PageLanguage): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

/** Ceremonies of this page wait for an authenticator that is never touched. */
Object.assign(CredentialsContainer.prototype, {
  get: () => new Promise(() => {}),
  create: () => new Promise(() => {}),
});

/** An authenticator that does not answer, either. */
globalThis.EventSource = class extends EventTarget {
  close() {}
} as unknown as typeof EventSource;

const links = document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]");
const ownStyle = document.head.appendChild(document.createElement("style"));

/** Shows a whole document, with its own style sheet in place of that of the pages; undefined shows none. */
function showMessage(text: string | undefined): void {
  // The element of a link would load its style sheet anew.
  for (const { sheet } of links) if (sheet) sheet.disabled = text !== undefined;
  const shown = text === undefined ? null : new DOMParser().parseFromString(text, "text/html");
  ownStyle.textContent = shown?.querySelector("style")?.textContent ?? "";
  if (shown) document.body.replaceChildren(...shown.body.childNodes);
}

/** A document without a script that says a message. */
function messageOf(name: string, language: PageLanguage): string | undefined {
  const texts = { ...wordsOf(language, {}).flow, language };
  const message = messages[name]?.(texts);
  return message && messageDocument(texts, "Stile", message);
}

/** What React draws: a flow, or a page without one. */
function contentOf({ name, embedding, language }: Shown): ReactNode {
  const drawing = byName.get(name);
  if (drawing) return <FlowOf drawing={drawing} embedding={embedding} language={language} />;
  return pagePictures[name]?.({ words: wordsOf(language, {}), language, service: "Stile" });
}

interface FlowProps {
  drawing: Drawing;
  embedding: Embedding;
  language: PageLanguage;
}

function FlowOf({ drawing, embedding, language }: FlowProps) {
  const { flow: type, state, version, redirectTo, providerReturn = null } = drawing;
  const { flow: words, frame } = wordsOf(language, {});
  const initial = { version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) };
  if (embedding === "page")
    return (
      <Login
        {...{ type, initial, words, language, address, providerReturn, navigate }}
        drawings={pageDrawings}
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

function elementOf({ flow }: Drawing, language: PageLanguage): HTMLElement {
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
