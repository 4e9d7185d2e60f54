/** Texts of the sign-in in a terminal, beside those of the flow. */
export interface TerminalWords {
  /** Asks for the number of a choice; has the placeholder `{default}`. */
  choose: string;
  /** Added to a prompt whose answer may be empty, to see the other choices. */
  otherWays: string;
  /** Said where a passkey or a security key would be offered. */
  noPasskeys: string;
  /** Before the address of the page, for a sign-in at a provider. */
  openAddress: string;
  /** Said of a sign-in by a code; has the placeholders `{address}` and `{code}`. */
  enterCode: string;
  yes: string;
  no: string;
}
