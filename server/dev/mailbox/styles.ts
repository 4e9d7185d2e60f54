/**
 * The look of the mailbox page, in the custom properties of the theme: a list on the left, the open mail on the right;
 * stacked on narrow screens.
 */
export const mailboxStyles = `
header { max-width: 1200px; }
main { display: grid; grid-template-columns: minmax(260px, 340px) minmax(0, 1fr); gap: 20px; align-items: start; max-width: 1200px; }
nav, article, .empty { background: var(--stile-surface); border: 1px solid var(--stile-line); border-radius: var(--stile-radius-card); }
nav { max-height: calc(100vh - 150px); overflow: auto; }
ol { margin: 0; padding: 0; list-style: none; }
li + li { border-top: 1px solid var(--stile-line); }
nav a { display: block; padding: 12px 16px; color: inherit; text-decoration: none; border-inline-start: 3px solid transparent; }
nav a:hover { background: var(--stile-ground); }
nav a:focus-visible { outline: 2px solid var(--stile-accent); outline-offset: -2px; }
nav a[aria-current] { background: var(--stile-tint); border-inline-start-color: var(--stile-accent); }
nav strong, nav span, nav time { display: block; overflow-wrap: anywhere; }
nav strong { font-size: 15px; font-weight: 600; }
nav span, nav time, .facts { font-size: 13px; color: var(--stile-ink-soft); }
article { padding: 24px; }
.facts { margin: 4px 0 20px; }
.facts strong { color: var(--stile-ink); overflow-wrap: anywhere; }
iframe { width: 100%; height: 600px; }
.empty { grid-column: 1 / -1; margin: 0; padding: 48px 24px; text-align: center; color: var(--stile-ink-soft); }
@media (max-width: 760px) { main { grid-template-columns: minmax(0, 1fr); } nav { max-height: 260px; } }
`;
