/** The look of the preview of mails. */
export const mailPreviewStyles = `
:root { color-scheme: light dark; --page: #f3f4f6; --card: #fff; --line: #e3e6ea; --text: #14181d; --quiet: #5d6672; --chosen: #e8effc; --accent: #1f5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0f1216; --card: #191d23; --line: #2a3038; --text: #f3f5f7; --quiet: #a4adb8; --chosen: #1d2a40; --accent: #8ab4ff; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Helvetica, Arial, "Noto Sans Bengali", "Noto Sans SC", "Noto Sans CJK SC", sans-serif; color: var(--text); background: var(--page); }
header { padding: 28px 24px 12px; }
h1 { margin: 0; font-size: 22px; }
header p { margin: 4px 0 0; color: var(--quiet); }
main { padding: 0 24px 40px; }
a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.links { display: flex; flex-wrap: wrap; gap: 6px; margin: 0 0 10px; }
.links a { padding: 3px 10px; font-size: 13px; background: var(--card); border: 1px solid var(--line); border-radius: 999px; }
.links a[aria-current] { background: var(--chosen); border-color: var(--accent); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
table { border-collapse: collapse; min-width: 1500px; font-size: 13px; line-height: 1.45; }
th, td { padding: 9px 14px; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; background: var(--card); }
@media (min-width: 40rem) { tbody th { position: sticky; inset-inline-start: 0; } }
td { min-width: 150px; color: var(--quiet); }
h2 { margin: 20px 0 12px; font-size: 18px; overflow-wrap: anywhere; }
h3 { margin: 24px 0 8px; font-size: 15px; }
.frames, .grid { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; }
.grid section { width: 322px; }
.grid h2 { min-height: 3em; margin: 14px 0 8px; font-size: 15px; }
iframe { display: block; max-width: 100%; height: 760px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
pre { max-width: 640px; margin: 0; padding: 16px; font: 14px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Bengali", "Noto Sans CJK SC", monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
`;
