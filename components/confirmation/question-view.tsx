import { useEffect, useRef, useState } from "react";
import type { ConfirmationError, ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { Agreement, type Summary } from "./agreement.tsx";
import { confirm, decline, type End, type Options, type Signed } from "./send-answer.ts";
import { type DataNode, ExactText, type TextPiece } from "./signed-data.tsx";

/** The transaction to confirm. */
export interface Question {
  token: string;
  application: string;
  user: { name: string; displayName: string };
  /** The application's own id of the transaction, which is signed too. */
  transactionId: TextPiece[];
  summary: Summary;
  /** The members of the data that the summary does not show. */
  rest: DataNode | null;
  exact: TextPiece[];
  hides: boolean;
  /** The host that the browser is redirected to afterwards, for instance `shop.example`. */
  returnsTo: string;
  options: Options;
}

interface QuestionViewProps {
  words: ConfirmationWords;
  question: Question;
  address: string;
  /** Whether scripts run. */
  live: boolean;
  end(reached: End): void;
}

/** Shows the transaction and takes the answer; stays open until an answer has arrived. */
export function QuestionView({ words, question, address, live, end }: QuestionViewProps) {
  const [options, setOptions] = useState(question.options);
  const [signed, setSigned] = useState<Signed | null>(null);
  const [busy, setBusy] = useState<"confirm" | "decline" | null>(null);
  const [error, setError] = useState<ConfirmationError | null>(null);
  const destination = { address, token: question.token };
  const { displayName, name } = question.user;

  // Without this a slow reader would learn of the expiry only after using the passkey.
  const deadline = useRef(0);
  useEffect(() => {
    deadline.current = performance.now() + (options.timeout ?? 0);
  }, [options]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function `end` never changes
  useEffect(() => {
    // A signed answer may have arrived, so only the server knows how the transaction ended.
    if (busy || signed) return;
    const left = Math.max(0, deadline.current - performance.now());
    const timer = setTimeout(() => end({ end: "expired", redirectTo: null }), left);
    return () => clearTimeout(timer);
  }, [busy, signed, options]);

  async function answer(choice: "confirm" | "decline") {
    setBusy(choice);
    setError(null);
    const outcome = await (choice === "confirm"
      ? confirm(options, destination, signed)
      : decline(destination));
    if ("end" in outcome) {
      end(outcome);
      return;
    }
    if (outcome.options) setOptions(outcome.options);
    if (choice === "confirm") setSigned(outcome.signed ?? null);
    setError(outcome.error);
    setBusy(null);
  }

  return (
    <section className="stile-state">
      <div className="stile-content">
        <h1 className="stile-title" tabIndex={-1}>
          {words.title}
        </h1>
        <p className="stile-sentence">{interpolate(words.sentence, { application: question.application })}</p>
        <p className="stile-user">
          <span className="stile-user-initial" aria-hidden="true">
            {[...displayName][0]?.toUpperCase()}
          </span>
          <span className="stile-user-text">
            <bdi className="stile-subject">{displayName}</bdi>
            {name !== displayName && <bdi>{name}</bdi>}
          </span>
        </p>
        {question.hides && <Alert tone="error">{words.hides}</Alert>}
        <Agreement summary={question.summary} rest={question.rest} words={words} />
        <ExactText id={question.transactionId} pieces={question.exact} words={words} />
        {error && <Alert tone="error">{words.errors[error]}</Alert>}
        <noscript>
          <Alert tone="error">{words.noScript}</Alert>
        </noscript>
        <div className="stile-choices">
          <Button
            tone="primary"
            type="button"
            icon="passkey"
            busy={busy === "confirm"}
            disabled={!live || busy !== null}
            onClick={() => void answer("confirm")}
          >
            {words.confirm}
          </Button>
          <Button
            tone="secondary"
            type="button"
            busy={busy === "decline"}
            disabled={!live || busy !== null}
            onClick={() => void answer("decline")}
          >
            {words.decline}
          </Button>
        </div>
        <p className="stile-agreement-return">{interpolate(words.returning, { host: question.returnsTo })}</p>
      </div>
    </section>
  );
}
