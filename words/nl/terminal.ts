import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Je keuze [{default}]",
  otherWays: "leeg: andere manieren",
  noPasskeys: "Passkeys en beveiligingssleutels werken niet in een terminal.",
  openAddress: "Open dit adres in een browser en log daar in:",
  enterCode: "Open {address} in een browser en voer deze code in: {code}",
  yes: "Ja",
  no: "Nee",
};
