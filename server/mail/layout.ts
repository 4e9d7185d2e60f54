import { type Html, html, trusted } from "./html.ts";

/** A part of a mail, top to bottom. */
export interface Block {
  kind: "heading" | "paragraph" | "code" | "aside";
  text: string;
}

export interface MailPage {
  language: string;
  title: string;
  /** Name of the service, shown at the top. */
  sender: string;
  /** The line that mail programs show beside the subject. */
  preview: string;
  blocks: Block[];
  footer: string;
}

/** The mail as plain text. A code is on a line of its own. */
export function textLayout({ sender, blocks, footer }: MailPage): string {
  const parts = blocks.map(({ kind, text }) => (kind === "code" ? `    ${text}` : text));
  // RFC 3676 4.3: the text after this line is a signature.
  return `${[sender, ...parts, `-- \n${footer}`].join("\n\n")}\n`;
}

const fonts = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
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
  .frame { padding: 24px 12px !important; }
  .card { padding: 28px 24px !important; }
  .edge { padding-left: 25px !important; padding-right: 25px !important; }
}
`;

/** Keeps mail programs from filling the preview with the text that follows. */
const filler = "&#847;&zwnj;&nbsp;".repeat(60);

/** The mail as HTML: tables and inline styles, which mail programs require; no image, link or script. */
export function htmlLayout({ language, title, sender, preview, blocks, footer }: MailPage): string {
  return html`<!doctype html>
<html lang="${language}" dir="ltr">
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
<div style="display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;opacity:0">${preview}${trusted(filler)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
<td class="page frame" align="center" style="padding:40px 16px;background-color:#f3f4f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px"><tr>
<td class="strong edge" align="left" style="padding:0 41px 14px;font-family:${trusted(fonts)};font-size:16px;line-height:24px;font-weight:600;color:#14181d">${sender}</td>
</tr><tr>
<td class="card" align="left" style="padding:36px 40px;background-color:#ffffff;border:1px solid #e3e6ea;border-radius:12px">
${blocks.map(blockHtml)}
</td>
</tr><tr>
<td class="quiet edge" align="left" style="padding:18px 41px 0;font-family:${trusted(fonts)};font-size:13px;line-height:20px;font-weight:400;color:#5d6672">${footer}</td>
</tr></table>
</td>
</tr></table>
</body>
</html>
`.markup;
}

function blockHtml({ kind, text }: Block): Html {
  switch (kind) {
    case "heading":
      return html`<h1 class="strong" style="margin:0 0 16px;font-family:${trusted(fonts)};font-size:22px;line-height:30px;font-weight:600;color:#14181d">${text}</h1>`;
    case "paragraph":
      return html`<p class="strong" style="margin:0 0 16px;font-family:${trusted(fonts)};font-size:16px;line-height:25px;font-weight:400;color:#2b323a">${text}</p>`;
    case "code":
      // Spaced by style, not by characters, so that copying and screen readers give the code.
      return html`<p class="code" style="margin:8px 0 24px;padding:18px 0 18px 0.3em;font-family:${trusted(monospace)};font-size:34px;line-height:40px;font-weight:600;letter-spacing:0.3em;text-align:center;white-space:nowrap;color:#14181d;background-color:#f3f4f6;border:1px solid #e3e6ea;border-radius:8px;-webkit-user-select:all;user-select:all">${text}</p>`;
    case "aside":
      return html`<p class="quiet line" style="margin:24px 0 0;padding:20px 0 0;border-top:1px solid #e3e6ea;font-family:${trusted(fonts)};font-size:14px;line-height:22px;font-weight:400;color:#5d6672">${text}</p>`;
  }
}
