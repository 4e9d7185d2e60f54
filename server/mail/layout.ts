import { directionOf } from "#words/direction";
import type { PageLanguage } from "#words/language-tags";
import { type Html, html, trusted } from "./html.ts";

/** A part of a mail, top to bottom. `link`: the address that the text leads to, which plain text shows in its place. */
export type Block =
  | { kind: "heading" | "paragraph" | "code" | "aside"; text: string }
  | { kind: "link"; text: string; address: string };

export interface MailPage {
  language: PageLanguage;
  title: string;
  /** Name of the service, shown at the top. */
  sender: string;
  /** The line that mail programs show beside the subject. */
  preview: string;
  blocks: Block[];
  footer: string;
}

/** The mail as plain text. A code is on a line of its own, and so is the address of a link. */
export function textLayout({ sender, blocks, footer }: MailPage): string {
  const parts = blocks.map(plainText);
  // RFC 3676 4.3: the text after this line is a signature.
  return `${[sender, ...parts, `-- \n${footer}`].join("\n\n")}\n`;
}

function plainText(block: Block): string {
  if (block.kind === "link") return block.address;
  return block.kind === "code" ? `    ${block.text}` : block.text;
}

/** Fonts of the systems for scripts that the general families do not have. */
const scriptFonts: Partial<Record<PageLanguage, string>> = {
  bn: "'Kohinoor Bangla','Nirmala UI','Noto Sans Bengali',",
  zh: "'PingFang SC','Microsoft YaHei','Noto Sans SC','Noto Sans CJK SC',",
};

const fontsOf = (language: PageLanguage) =>
  `-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,${scriptFonts[language] ?? ""}sans-serif`;

const monospace = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

// Many mail programs drop style elements, so required styles are inline. These are only the dark colours and the
// small screen.
const styles = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background-color: #0f1216 !important; }
  .line { border-color: #2a3038 !important; }
  .card { background-color: #191d23 !important; border-color: #2a3038 !important; }
  .strong { color: #f3f5f7 !important; }
  .quiet { color: #a4adb8 !important; }
  .code { color: #ffffff !important; background-color: #252b33 !important; border-color: #363e48 !important; }
}
@media (max-width: 480px) {
  .frame { padding: 20px 10px !important; }
  .card { padding: 24px 20px !important; }
  .edge { padding-left: 21px !important; padding-right: 21px !important; }
}
`;

/** Keeps mail programs from filling the preview with the text that follows. */
const filler = "&#847;&zwnj;&nbsp;".repeat(60);

/** Outlook for Windows ignores `max-width`; only it reads these comments. */
const outlookFrame = {
  start: trusted(
    '<!--[if mso]><table role="presentation" width="520" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->',
  ),
  end: trusted("<!--[if mso]></td></tr></table><![endif]-->"),
};

/**
 * The mail as HTML: tables and inline styles, which mail programs require; no image and no script. Language and
 * direction are repeated inside, because webmail drops the outer elements.
 */
export function htmlLayout({ language, title, sender, preview, blocks, footer }: MailPage): string {
  const fonts = trusted(fontsOf(language));
  const direction = directionOf(language);
  const spoken = html`lang="${language}" dir="${direction}"`;
  // Mail programs know no logical values; a table starts where its text does.
  const start = direction === "rtl" ? "right" : "left";
  return html`<!doctype html>
<html ${spoken}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<meta name="x-apple-disable-message-reformatting">
<title>${title}</title>
<style>${trusted(styles)}</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f3f4f6;-webkit-text-size-adjust:100%">
<div ${spoken} role="article" aria-label="${title}">
<div style="display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;opacity:0">${preview}${trusted(filler)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
<td class="page frame" align="center" style="padding:40px 16px;background-color:#f3f4f6">
${outlookFrame.start}<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;table-layout:fixed"><tr>
<td class="strong edge" align="${start}" style="padding:0 41px 14px;font-family:${fonts};font-size:16px;line-height:24px;font-weight:600;${breaking};color:#14181d">${sender}</td>
</tr><tr>
<td class="card" align="${start}" style="padding:36px 40px;background-color:#ffffff;border:1px solid #e3e6ea;border-radius:12px">
${blocks.map((block) => blockHtml(block, fonts))}
</td>
</tr><tr>
<td class="quiet edge" align="${start}" style="padding:18px 41px 0;font-family:${fonts};font-size:13px;line-height:20px;font-weight:400;${breaking};color:#5d6672">${footer}</td>
</tr></table>${outlookFrame.end}
</td>
</tr></table>
</div>
</body>
</html>
`.markup;
}

/** Breaks an address or a name that is longer than the line, and no other word. */
const breaking = trusted("word-break:break-word;overflow-wrap:break-word");

function blockHtml(block: Block, fonts: Html): Html {
  const { text } = block;
  switch (block.kind) {
    case "heading":
      return html`<h1 class="strong" style="margin:0 0 16px;font-family:${fonts};font-size:22px;line-height:31px;font-weight:600;${breaking};color:#14181d">${text}</h1>`;
    case "paragraph":
      return html`<p class="strong" style="margin:0 0 16px;font-family:${fonts};font-size:16px;line-height:26px;font-weight:400;${breaking};color:#2b323a">${text}</p>`;
    case "code":
      // Spaced by style, not by characters, so that copying and screen readers give the code; translators keep it.
      return html`<p class="code" dir="ltr" translate="no" style="margin:8px 0 24px;padding:18px 0 18px 0.28em;font-family:${trusted(monospace)};font-size:34px;line-height:40px;font-weight:600;letter-spacing:0.28em;text-align:center;white-space:nowrap;color:#14181d;background-color:#f3f4f6;border:1px solid #e3e6ea;border-radius:8px;-webkit-user-select:all;user-select:all">${text}</p>`;
    case "link":
      return html`<p style="margin:0 0 24px;font-family:${fonts};font-size:16px;line-height:26px;${breaking}"><a class="strong" href="${block.address}" target="_blank" style="font-weight:600;text-decoration:underline;color:#14181d">${text}</a></p>`;
    case "aside":
      return html`<p class="quiet line" style="margin:24px 0 0;padding:20px 0 0;border-top:1px solid #e3e6ea;font-family:${fonts};font-size:14px;line-height:23px;font-weight:400;${breaking};color:#5d6672">${text}</p>`;
  }
}
