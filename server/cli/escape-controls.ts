/** Control characters, line breaks and direction marks, with which a text would move the cursor or forge a line. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Makes text of others safe to show in a terminal: what could steer it is escaped, as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
