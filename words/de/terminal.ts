import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Ihre Wahl [{default}]",
  otherWays: "leer: andere Wege",
  noPasskeys: "Passkeys und Sicherheitsschlüssel funktionieren in einem Terminal nicht.",
  openAddress: "Öffnen Sie diese Adresse in einem Browser und melden Sie sich dort an:",
  yes: "Ja",
  no: "Nein",
};
