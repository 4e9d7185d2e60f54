import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "La tua scelta [{default}]",
  otherWays: "vuoto: altri modi",
  noPasskeys: "Le passkey e le chiavi di sicurezza non funzionano in un terminale.",
  openAddress: "Apri questo indirizzo in un browser e accedi lì:",
  enterCode: "Apri {address} in un browser e inserisci questo codice: {code}",
  yes: "Sì",
  no: "No",
};
