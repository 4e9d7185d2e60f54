import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Ihre Wahl [{default}]",
  otherWays: "leer: andere Wege",
  noPasskeys: "Passkeys und Sicherheitsschlüssel funktionieren in einem Terminal nicht.",
  openAddress: "Öffnen Sie diese Adresse in einem Browser und melden Sie sich dort an:",
  enterCode: "Öffnen Sie {address} in einem Browser und geben Sie diesen Code ein: {code}",
  yes: "Ja",
  no: "Nein",
};
