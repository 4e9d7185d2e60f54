/** What the page says that asks about a transaction; `{name}` in a text is a gap that `fill` closes. */
export interface ConfirmationWords {
  title: string;
  /** Has the gap `{application}`. */
  sentence: string;
  agreement: string;
  confirm: string;
  decline: string;
  /** Has the gap `{host}`. */
  returning: string;
  exact: string;
  exactSentence: string;
  hides: string;
  /** Has the gap `{code}`: a code point. */
  unseen: string;
  yes: string;
  no: string;
  nothing: string;
  empty: string;
  noScript: string;
  /** Said while the person is taken back; has the gap `{host}`. */
  leaving: string;
  /** Has the gap `{host}`. */
  continueAt: string;
  ends: Record<ConfirmationEnd, { title: string; sentence: string }>;
  problems: Record<ConfirmationProblem, string>;
}

/** How it ended: the person agreed or declined just now, or the page is no longer open. */
export type ConfirmationEnd = "confirmed" | "declined" | "expired" | "answered" | "unknown";

/** What keeps an answer from being given; the page goes on asking. */
export type ConfirmationProblem =
  | "cancelled"
  | "failed"
  | "unsupported"
  | "refused"
  | "slow"
  | "offline"
  | "technical";
