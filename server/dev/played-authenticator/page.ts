import type { Config } from "../../config/schema.ts";
import { hashSource } from "../../lib/hash-source.ts";
import { type Html, html, trusted } from "../../mail/html.ts";
import type { StoredKey } from "../../testing/uaf-authenticator/call.ts";
import { devHeaders, devPage } from "../dev-page.ts";
import { mailboxStyles } from "../mailbox/styles.ts";
import type { Approval } from "./player.ts";

/** A pending request on the page. */
export interface PendingRequestView {
  id: string;
  /** Name of the tenant's service. */
  service: string;
  operation: string;
  username: string;
  userId: string;
  transaction: string | null;
  /** The place of the user's browser. */
  location: { country?: string; region?: string; city?: string } | null;
  createdAt: Date;
  validUntil: Date;
}

/** The result of the last button. */
export type Outcome = Approval["outcome"] | "declined" | "forgotten" | "no link";

const outcomes: Record<Outcome, string> = {
  approved: "Approved. The server has accepted the answer.",
  refused: "The server has refused the answer.",
  unsuitable: "This authenticator does not answer such a request: it has no key for it, or is not accepted.",
  over: "Too late: the request has been answered or cancelled, or its time is over.",
  unknown: "The server knows no such request.",
  unreachable: "The server cannot be reached at its own address (BASE_URL).",
  declined: "Declined. Nothing was sent; the request waits until its time is over.",
  forgotten: "Forgotten. The server still has its half of the key.",
  "no link": "That is not the link of a request to this server.",
};

export const isOutcome = (text: string): text is Outcome => Object.hasOwn(outcomes, text);

const titles: Record<string, string> = {
  REG: "Add this authenticator",
  AUTH: "Sign in",
  DEREG: "Remove keys",
};

/** Reloads the page when the pending requests change, unless the input holds text. */
const script = `
const shown = document.querySelector("main").dataset.waiting;
setInterval(async () => {
  if (document.hidden || document.querySelector("input[name=link]").value) return;
  const answer = await fetch("/dev/authenticator", { headers: { accept: "application/json" } }).catch(() => null);
  if (!answer?.ok) return;
  const waiting = (await answer.json()).map(({ id }) => id).join(" ");
  if (waiting !== shown) location.replace("/dev/authenticator");
}, 2000);
`;

export const pageHeaders = {
  ...devHeaders({
    "script-src": hashSource(script),
    "style-src": "'unsafe-inline'",
    "connect-src": "'self'",
    "form-action": "'self'",
  }),
  vary: "accept",
};

const styles = `
main { grid-template-columns: minmax(0, 1fr); max-width: 760px; gap: 16px; }
header { max-width: 760px; }
form { display: inline; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 16px; }
button { padding: 8px 16px; font: inherit; color: var(--stile-ink); background: var(--stile-ground); border: 1px solid var(--stile-line); border-radius: 8px; cursor: pointer; }
button.first { color: var(--stile-surface); background: var(--stile-accent); border-color: var(--stile-accent); }
button:focus-visible, input:focus-visible { outline: 2px solid var(--stile-accent); outline-offset: 2px; }
input { width: 100%; margin: 6px 0 0; padding: 8px 12px; font: inherit; color: inherit; background: var(--stile-ground); border: 1px solid var(--stile-line); border-radius: 8px; }
blockquote { margin: 0; padding: 16px; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--stile-ground); border-radius: 8px; }
.outcome { margin: 0; padding: 12px 16px; border-radius: 12px; background: var(--stile-tint); }
article li { display: flex; justify-content: space-between; align-items: center; gap: 12px; padding: 10px 0; }
article li span { overflow-wrap: anywhere; }
article > .facts:last-child { margin: 12px 0 0; }
`;

/** Renders the page of the played authenticator (`GET /dev/authenticator`). */
export function authenticatorPage(shown: {
  config: Pick<Config, "service" | "theme">;
  waiting: readonly PendingRequestView[];
  keys: readonly StoredKey[];
  outcome: { name: Outcome; code: number | null } | null;
}): Html {
  const { config, waiting, keys, outcome } = shown;
  return devPage(config, {
    title: "Played authenticator",
    about: "Stands in for the authenticator app, in development only. Its keys are kept in the data folder.",
    style: mailboxStyles + styles,
    script,
    main: html`<main data-waiting="${waiting.map(({ id }) => id).join(" ")}">
${outcome ? html`<p class="outcome" role="status">${outcomes[outcome.name]}${outcome.code === null ? "" : ` Code ${outcome.code}.`}</p>` : ""}
${waiting.length > 0 ? waiting.map(renderRequest) : html`<p class="empty">No pending requests. New ones appear here automatically.</p>`}
<article>
<h2>Scan a code</h2>
<form method="post" action="/dev/authenticator">
<label>What the QR code says: a link that ends in ?token=…<input name="link" type="url" autocomplete="off" required></label>
<div class="buttons">${button("approve", "Approve this code")}</div>
</form>
</article>
${renderKeys(keys)}
</main>`,
  });
}

function renderRequest(request: PendingRequestView): Html {
  const { id, service, operation, username, userId, transaction, location, createdAt, validUntil } = request;
  const place = [location?.city, location?.region, location?.country].filter(Boolean).join(", ");
  const user =
    username === userId ? html`<strong>${username}</strong>` : html`<strong>${username}</strong> (${userId})`;
  return html`<article>
<h2>${transaction === null ? (titles[operation] ?? operation) : "Confirm"}</h2>
<p class="facts">${service} asks · for ${user}${place === "" ? "" : ` · from ${place}`} · ${moment(createdAt)} · until ${moment(validUntil)}</p>
${transaction === null ? "" : html`<blockquote>${transaction}</blockquote>`}
<form method="post" action="/dev/authenticator">
<input type="hidden" name="request" value="${id}">
<div class="buttons">${button("approve", "Approve")}
${button("decline", "Decline")}</div>
</form>
<p class="facts">Declining sends nothing: an authenticator can only read and answer a request.</p>
</article>`;
}

function renderKeys(keys: readonly StoredKey[]): Html {
  if (keys.length === 0) return html`<article><h2>Keys</h2><p class="facts">None yet.</p></article>`;
  const rows = keys.map(({ id, username }) => {
    const keyId = id.toString("base64url");
    return html`
<li><span><strong>${username}</strong><br><small>${keyId}</small></span>
<form method="post" action="/dev/authenticator"><input type="hidden" name="key" value="${keyId}">${button("forget", "Forget")}</form></li>`;
  });
  return html`<article>
<h2>Keys</h2>
<ol>${rows}</ol>
<form method="post" action="/dev/authenticator"><input type="hidden" name="key" value="all">
<div class="buttons">${button("forget", "Forget all")}</div></form>
</article>`;
}

const button = (action: string, label: string): Html =>
  html`<button name="do" value="${action}"${trusted(action === "approve" ? ' class="first"' : "")}>${label}</button>`;

function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
}
