/** The texts of the transaction confirmation page. `{name}` in a text is a placeholder. */
export interface ConfirmationWords {
  title: string;
  /** Has the placeholder `{application}`. */
  sentence: string;
  agreement: string;
  /** Names of the members of a transaction that the page knows. */
  members: Record<"amount" | "to" | "reference" | "items", string>;
  /** Above the members that it does not know, which have the names that the application gave them. */
  rest: string;
  confirm: string;
  decline: string;
  /** Has the placeholder `{host}`. */
  returning: string;
  exact: string;
  exactSentence: string;
  hides: string;
  /** Has the placeholder `{code}`: a code point. */
  unseen: string;
  yes: string;
  no: string;
  nothing: string;
  empty: string;
  noScript: string;
  /** Shown while the browser is redirected back; has the placeholder `{host}`. */
  redirecting: string;
  /** Has the placeholder `{host}`. */
  continueAt: string;
  ends: Record<ConfirmationEnd, { title: string; sentence: string }>;
  errors: Record<ConfirmationError, string>;
}

/** How the page ended: confirmed or declined just now, or no longer open. */
export type ConfirmationEnd = "confirmed" | "declined" | "expired" | "answered" | "unknown";

/** Why an answer could not be given; the page stays open. */
export type ConfirmationError =
  | "cancelled"
  | "failed"
  | "unsupported"
  | "refused"
  | "slow"
  | "offline"
  | "technical";
