/** The look of the preview of mails. */
export const mailPreviewStyles = `
a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--stile-accent); outline-offset: 2px; border-radius: 4px; }
.links { display: flex; flex-wrap: wrap; gap: 6px; margin: 0 0 10px; }
.links a { padding: 3px 10px; font-size: 13px; background: var(--stile-surface); border: 1px solid var(--stile-line); border-radius: 999px; }
.links a[aria-current] { background: var(--stile-tint); border-color: var(--stile-accent); }
.scroll { overflow-x: auto; background: var(--stile-surface); border: 1px solid var(--stile-line); border-radius: 12px; }
table { border-collapse: collapse; min-width: 1500px; font-size: 13px; line-height: 1.45; }
th, td { padding: 9px 14px; text-align: start; vertical-align: top; border-bottom: 1px solid var(--stile-line); }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; background: var(--stile-surface); }
@media (min-width: 40rem) { tbody th { position: sticky; inset-inline-start: 0; } }
td { min-width: 150px; color: var(--stile-ink-soft); }
h2 { margin: 20px 0 12px; font-size: 18px; }
.frames, .grid { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; }
.grid section { width: 322px; }
.grid h2 { min-height: 3em; margin: 14px 0 8px; font-size: 15px; }
iframe { max-width: 100%; height: 760px; background: var(--stile-surface); }
pre { max-width: 640px; background: var(--stile-surface); border: 1px solid var(--stile-line); }
`;
