import { directionOf } from "#words/direction";
import type { FlowWords } from "#words/flow";
import type { PageLanguage } from "#words/language-tags";
import type { FlowType } from "../../flow/names.ts";
import { type Html, html, trusted } from "../../mail/html.ts";
import { stileColorRules } from "../../theme/theme-css.ts";

/** What a page says. */
export interface PageMessage {
  title: string;
  sentence: string;
  /** For developers, in English: what is wrong. Drawn below a fold, in development alone. */
  detail?: string;
  /** The page that led here, which a link leads back to. */
  from?: URL | undefined;
  /** A mailed code, to be typed elsewhere. */
  code?: string;
  /** Where to go from here: the path of the sign-in page, this page again, the answer to a form, or a link. */
  wayOn?: { home: string } | "reload" | StartOver | Press | Link;
  /** Addresses of pages of applications, which are loaded in frames that are not shown. */
  frames?: readonly string[];
  /** Whether any page may hold it in a frame: one that asks nothing, at an address that cannot be guessed. */
  framable?: true;
}

/** A link. */
export interface Link {
  text: string;
  href: string;
  /** Whether the browser follows it by itself once the frames of the page have loaded. */
  followed?: true;
}

/** A form with one button. */
export interface Press {
  label: string;
  /** The path that the form is posted to. */
  action: string;
  fields: Readonly<Record<string, string>>;
}

/** This page again, or another flow in place of the one that it shows: its type, and the path that forms are posted to. */
export interface StartOver {
  flow: FlowType;
  action: string;
}

/** The texts that a message is made of. */
export type MessageWords = Pick<FlowWords, "page" | "errors"> & { language: PageLanguage };

/** Selects the texts of a page. */
export type Message = (words: MessageWords) => PageMessage;

/** The look of the hosted pages. */
export const messageStyles = `
${stileColorRules(["ground", "surface", "ink", "ink-soft", "line", "accent", "accent-strong", "on-accent", "tint"])}
body { margin: 0; padding: clamp(1.25rem, 9vh, 6rem) 1rem; font: 1rem/1.5 -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif; color: var(--stile-ink); background: var(--stile-ground); }
main { max-width: 27rem; margin: 0 auto; }
.card { padding: 2rem 2.25rem; border: 1px solid var(--stile-line); border-radius: 1.125rem; background: var(--stile-surface); }
.service { margin: 0 0 1.25rem; font-size: 1.125rem; font-weight: 650; text-align: center; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; }
.card p { margin: 0; overflow-wrap: anywhere; }
.card form { margin: 0; }
.card a, .card button { padding-block: 0.625rem; color: var(--stile-accent); font-weight: 600; }
.card button { padding-inline: 0; border: 0; background: none; font-family: inherit; font-size: inherit; line-height: inherit; text-decoration: underline; cursor: pointer; }
.card nav { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin-block-start: 0.75rem; }
.card a { max-width: 100%; overflow-wrap: anywhere; }
.card .press { margin-block-start: 1.25rem; }
.card .press button { width: 100%; min-height: 3rem; padding: 0.625rem 1.25rem; border: 1px solid transparent; border-radius: 0.625rem; color: var(--stile-on-accent); background: var(--stile-accent); text-decoration: none; }
.card .press button:hover { background: var(--stile-accent-strong); }
.card .press button:focus-visible { outline: 2px solid var(--stile-accent); outline-offset: 3px; }
.card .code { margin-block-start: 1.25rem; padding-block: 1rem; padding-inline-start: 0.25em; border: 1px solid var(--stile-line); border-radius: 0.625rem; background: var(--stile-tint); font: 600 1.875rem/1.25 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; letter-spacing: 0.25em; text-align: center; overflow-wrap: normal; user-select: all; }
.card details { margin-block-start: 1rem; padding-block-start: 0.75rem; border-block-start: 1px solid var(--stile-line); font-size: 0.875rem; color: var(--stile-ink-soft); }
.card summary { padding-block: 0.25rem; cursor: pointer; }
`;

/** How long the browser waits for frames. */
const FRAMES_TIMEOUT_MS = 5_000;

/** Follows the link of a page once its frames have loaded, or after a while. The page does not stay in the history. */
export const followScript = `
let left = false;
function follow() {
  if (left) return;
  left = true;
  location.replace(document.querySelector("a[data-followed]").href);
}
addEventListener("load", follow);
addEventListener("DOMContentLoaded", () => setTimeout(follow, ${FRAMES_TIMEOUT_MS}));
`;

/** Whether a page has the script. */
export const followsLink = ({ wayOn, frames = [] }: PageMessage): boolean =>
  frames.length > 0 && typeof wayOn === "object" && "followed" in wayOn;

/**
 * A page that tells a person why there is no other page, as a document that loads nothing and has no script, but where it has
 * frames.
 */
export function messageDocument(
  { language, page }: MessageWords,
  service: string,
  message: PageMessage,
): string {
  const { title, sentence, code, detail, from, wayOn, frames = [] } = message;
  const back = from ? [html`<a href="${from.href}">${page.backTo.replace("{host}", from.host)}</a>`] : [];
  const links = [...back, ...linksOn(page, wayOn)];
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${service}</title>
<style>${trusted(messageStyles)}</style>
${followsLink(message) ? html`<script>${trusted(followScript)}</script>\n` : []}</head>
<body>
<main>
<p class="service">${service}</p>
<div class="card">
<h1>${title}</h1>
<p>${sentence}</p>
${code === undefined ? [] : html`<p class="code" dir="ltr" translate="no">${code}</p>`}
${typeof wayOn === "object" && "label" in wayOn ? pressForm(wayOn) : []}
${links.length === 0 ? [] : html`<nav>\n${links}\n</nav>`}
${detail === undefined ? [] : html`<details lang="en" dir="ltr"><summary>For developers</summary><p>${detail}</p></details>`}
</div>
</main>
${frames.map(frame)}</body>
</html>
`.markup;
}

/** A page of an application. It may set cookies and run, and cannot lead the browser away from the page that loads it. */
const frame = (address: string) =>
  html`<iframe hidden sandbox="allow-same-origin allow-scripts allow-forms" src="${address}"></iframe>\n`;

function linksOn(page: MessageWords["page"], wayOn: PageMessage["wayOn"]): Html[] {
  if (wayOn === undefined) return [];
  const reload = html`<a href="">${page.reload}</a>`;
  if (wayOn === "reload") return [reload];
  if ("home" in wayOn) return [html`<a href="${wayOn.home}">${page.toSignIn}</a>`];
  if ("href" in wayOn)
    return [
      html`<a${wayOn.followed ? trusted(" data-followed") : ""} href="${wayOn.href}">${wayOn.text}</a>`,
    ];
  return "flow" in wayOn ? [reload, startOverForm(page, wayOn)] : [];
}

const startOverForm = (page: MessageWords["page"], { flow, action }: StartOver) => html`
<form method="post" action="${action}">
<input type="hidden" name="flow" value="${flow}">
<input type="hidden" name="action" value="start_over">
<input type="hidden" name="version" value="0">
<button class="stile-button-link">${page.startAgain}</button>
</form>`;

const pressForm = ({
  label,
  action,
  fields,
}: Press) => html`<form class="press" method="post" action="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${label}</button>
</form>`;
