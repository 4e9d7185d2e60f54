import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Sua escolha [{default}]",
  otherWays: "vazio: outras formas",
  noPasskeys: "Chaves de acesso e chaves de segurança não funcionam em um terminal.",
  openAddress: "Abra este endereço em um navegador e entre por lá:",
  enterCode: "Abra {address} em um navegador e digite este código: {code}",
  yes: "Sim",
  no: "Não",
};
