import type { TerminalWords } from "../terminal.ts";

export const terminal: TerminalWords = {
  choose: "Your choice [{default}]",
  otherWays: "empty: other ways",
  noPasskeys: "Passkeys and security keys do not work in a terminal.",
  openAddress: "Open this address in a browser, and sign in there:",
  enterCode: "Open {address} in a browser and enter this code: {code}",
  yes: "Yes",
  no: "No",
};
