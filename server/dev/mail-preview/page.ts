import { z } from "zod";
import { type Language, languageTags } from "#words/language-tags";
import { translations } from "#words/translations";
import { type Html, html, trusted } from "../../mail/html.ts";
import type { MailContent } from "../../mail/mail-job.ts";
import { createMailWriter } from "../../mail/mail-writer.ts";
import type { MailMessage } from "../../mail/messages.ts";
import { exampleName, mailSamples } from "../../preview/message-samples.ts";
import type { Runtime } from "../../runtime.ts";
import { devHeaders, devPage } from "../dev-page.ts";
import { mailPreviewStyles } from "./styles.ts";

const messages = Object.keys(mailSamples) as MailMessage[];

/** Unknown and invalid parameters count as absent. */
const query = z.object({
  mail: z.enum(messages).optional().catch(undefined),
  language: z.enum(languageTags).optional().catch(undefined),
  variant: z.coerce.number().int().min(0).max(99).optional().catch(undefined),
});

type Query = z.output<typeof query>;

const headers = {
  // The frame of a mail inherits this policy. Mails use inline styles; nothing can be loaded.
  ...devHeaders({ "style-src": "'unsafe-inline'", "form-action": "'none'" }),
  "content-type": "text/html; charset=utf-8",
};

/** Widths of the frames in pixels: the narrowest phone, and a window on a desktop. */
const widths = { narrow: 320, wide: 640 };

/**
 * Renders the preview of all mails (`GET /dev/mail`): a table of message and language; with `?mail=` one message in
 * every language; with `?language=` too, that mail as HTML in a narrow and a wide frame, its text and its subject.
 * `?variant=` selects one of several examples of a message. Nothing is sent.
 */
export function mailPreviewPage({ config }: Pick<Runtime, "config">, url: URL): Response {
  const asked = query.parse(Object.fromEntries(url.searchParams));
  const service = config.service.name;
  const write = createMailWriter({ service, host: new URL(config.base_url).host, words: config.words });
  const page = devPage(config, {
    title: [asked.mail, asked.language, "Mails"].filter(Boolean).join(" · "),
    heading: asked.mail ? html`<a href="?">Mails</a>` : html`Mails`,
    about: `Every mail that ${service} sends, in every language.`,
    style: mailPreviewStyles,
    main: html`<main>${view(asked, write)}</main>`,
  });
  return new Response(page.markup, { headers });
}

type Write = ReturnType<typeof createMailWriter>;

function view({ mail, language, variant = 0 }: Query, write: Write): Html {
  if (!mail) return overview(write);
  const samples: readonly MailContent[] = mailSamples[mail];
  const content = samples[variant] ?? samples[0];
  if (!content) throw new Error(`${mail} has no example`);
  const at = samples.indexOf(content);
  return html`
<nav aria-label="Message" class="links">${messages.map((name) => link({ mail: name, language }, name, name === mail))}</nav>
<nav aria-label="Language" class="links">${link({ mail, variant: at }, "all languages", !language)}${languageTags.map(
    (tag) => link({ mail, language: tag, variant: at }, translations[tag].name, tag === language),
  )}</nav>
${samples.length > 1 ? html`<nav aria-label="Example" class="links">${samples.map((sample, index) => link({ mail, language, variant: index }, exampleName(sample), index === at))}</nav>` : ""}
${language ? oneMail(write(content, language)) : html`<div class="grid">${languageTags.map((tag) => inLanguage(tag, write(content, tag)))}</div>`}`;
}

function overview(write: Write): Html {
  return html`<div class="scroll"><table>
<thead><tr><th scope="col">Message</th>${languageTags.map((tag) => html`<th scope="col" lang="${tag}">${translations[tag].name}</th>`)}</tr></thead>
<tbody>${messages.map(
    (mail) => html`
<tr><th scope="row">${link({ mail }, mail, false)}</th>${languageTags.map((language) => {
      const [content] = mailSamples[mail] as readonly MailContent[];
      const subject = content ? write(content, language).subject : "";
      return html`<td lang="${language}">${link({ mail, language }, subject, false)}</td>`;
    })}</tr>`,
  )}</tbody>
</table></div>`;
}

function link(to: Query, text: string, isCurrent: boolean): Html {
  const parameters = Object.entries(to).flatMap(([name, value]) =>
    value === undefined || value === 0 ? [] : [[name, String(value)]],
  );
  return html`<a href="?${new URLSearchParams(parameters).toString()}"${isCurrent ? trusted(' aria-current="true"') : ""}>${text}</a>`;
}

type Rendered = ReturnType<Write>;

function inLanguage(tag: Language, rendered: Rendered): Html {
  return html`<section><h2 lang="${tag}">${rendered.subject}</h2>${frame(rendered, "narrow")}</section>`;
}

function oneMail(rendered: Rendered): Html {
  return html`<h2 lang="${rendered.language}">${rendered.subject}</h2>
<div class="frames">${frame(rendered, "narrow")}${frame(rendered, "wide")}</div>
<h3>Plain text</h3>
<pre lang="${rendered.language}">${rendered.text}</pre>`;
}

function frame(rendered: Rendered, width: keyof typeof widths): Html {
  const title = `${rendered.subject}, ${widths[width]} pixels wide`;
  return html`<iframe class="${width}" width="${widths[width]}" title="${title}" sandbox srcdoc="${rendered.html}"></iframe>`;
}
