import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { hashSource } from "../../lib/hash-source.ts";
import { type Html, html, trusted } from "../../mail/html.ts";
import { type MailboxEntry, newestMails } from "../../mail/mailbox.ts";
import type { Runtime } from "../../runtime.ts";
import { keepsSms } from "../../sms/create-transport.ts";
import { devHeaders, devPage } from "../dev-page.ts";
import { mailboxStyles } from "./styles.ts";

/** Unknown and invalid parameters count as absent. */
const query = z.object({
  // PostgreSQL does not accept NUL in text.
  to: z
    .string()
    .min(1)
    .refine((value) => !value.includes("\0"))
    // The plus of a telephone number, if it is not encoded.
    .transform((value) => value.replace(/^ (?=\d)/, "+"))
    .optional()
    .catch(undefined),
  limit: z.coerce.number().int().min(1).max(200).optional().catch(undefined),
  mail: z.uuid().optional().catch(undefined),
});

/** Reloads the page when there is a newer mail. */
const script = `
const shown = document.querySelector("main").dataset.newest;
const address = new URL(location.href);
address.searchParams.set("limit", "1");
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(address, { headers: { accept: "application/json" } }).catch(() => null);
  const [newest] = answer?.ok ? await answer.json() : [];
  if (newest && newest.created_at !== shown) location.reload();
}, 2000);
`;

const headers = {
  // The frame of a mail inherits this policy. Mails use inline styles; nothing can be loaded.
  ...devHeaders({
    "script-src": hashSource(script),
    "style-src": "'unsafe-inline'",
    "connect-src": "'self'",
    "form-action": "'none'",
  }),
  vary: "accept",
};

/**
 * Renders the local mailbox (`GET /dev/mailbox`), mails and SMS, newest first: a page, or with `Accept:
 * application/json` a list of `{ to, subject, text, html, created_at }`; the `html` of an SMS is empty. `?to=` filters by
 * recipient, `?limit=` limits the number of mails, `?mail=` is the id of the open one. It shows codes: only for
 * development, and only on this machine.
 */
export async function mailboxPage(runtime: Runtime, url: URL, accept: string | null): Promise<Response> {
  const { to, limit, mail } = query.parse(Object.fromEntries(url.searchParams));
  const mails = await newestMails(runtime.database.read, {
    ...(to === undefined ? {} : { to }),
    ...(limit === undefined ? {} : { limit }),
  });
  if (accept?.includes("application/json")) return Response.json(mails.map(listed), { headers });
  const open = mails.find(({ id }) => id === mail) ?? mails[0];
  const page = renderPage(mails, open, { config: runtime.config, to });
  return new Response(page.markup, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

function listed({ recipient, subject, text, html, createdAt }: MailboxEntry) {
  return { to: recipient, subject, text, html, created_at: createdAt.toISOString() };
}

function renderPage(
  mails: MailboxEntry[],
  open: MailboxEntry | undefined,
  { config, to }: { config: Config; to: string | undefined },
): Html {
  const why = [
    config.smtp_url
      ? "has a mail server now: new mail goes there and not here."
      : "has no mail server yet, so its mail stays here. Set SMTP_URL to send it.",
    ...(keepsSms(config) ? ["SMS stay here too, until STILE_SMS_DELIVERY_ACCOUNT_SID is set."] : []),
  ].join(" ");
  return devPage(config, {
    title: "Local mailbox",
    about: `${config.service.name} ${why}`,
    style: mailboxStyles,
    script,
    main: html`<main data-newest="${mails[0]?.createdAt.toISOString() ?? ""}">
${open ? [renderList(mails, open, to), renderMail(open)] : html`<p class="empty">No mail${to ? ` to ${to}` : ""} yet. It shows up here by itself.</p>`}
</main>`,
  });
}

function renderList(mails: MailboxEntry[], open: MailboxEntry, to: string | undefined): Html {
  const address = (id: string) => `?${new URLSearchParams({ ...(to ? { to } : {}), mail: id })}`;
  return html`<nav aria-label="Mails"><ol>${mails.map(
    ({ id, subject, recipient, createdAt }) => html`
<li><a href="${address(id)}"${id === open.id ? trusted(' aria-current="true"') : ""}>
<strong>${subject}</strong><span>${recipient}</span>${moment(createdAt)}</a></li>`,
  )}</ol></nav>`;
}

function renderMail({ subject, recipient, text, html: body, createdAt }: MailboxEntry): Html {
  return html`<article>
<h2>${subject}</h2>
<p class="facts">To <strong>${recipient}</strong> · ${moment(createdAt)}</p>
${body === "" ? "" : html`<iframe title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${body}"></iframe>\n<h3>Plain text</h3>`}
<pre>${text}</pre>
</article>`;
}

function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}
