import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Votre choix [{default}]",
  otherWays: "vide : autres moyens",
  noPasskeys: "Les clés d’accès et les clés de sécurité ne fonctionnent pas dans un terminal.",
  openAddress: "Ouvrez cette adresse dans un navigateur et connectez-vous :",
  enterCode: "Ouvrez {address} dans un navigateur et saisissez ce code : {code}",
  yes: "Oui",
  no: "Non",
};
