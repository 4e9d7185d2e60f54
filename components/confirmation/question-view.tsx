import { useEffect, useRef, useState } from "react";
import type { ConfirmationProblem, ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { confirm, decline, type End, type Options, type Signed } from "./send-answer.ts";
import { Agreement, type DataNode, ExactText, type TextPiece } from "./signed-data.tsx";

/** What is asked, of whom, and by whom. */
export interface Question {
  token: string;
  application: string;
  user: { name: string; displayName: string };
  /** The application's own id of it, which is signed too. */
  transactionId: TextPiece[];
  data: DataNode;
  exact: TextPiece[];
  hides: boolean;
  /** Where the person goes afterwards, for instance `shop.example`. */
  returnsTo: string;
  options: Options;
}

interface AskingProps {
  words: ConfirmationWords;
  question: Question;
  address: string;
  /** Whether there is a browser that runs this. */
  live: boolean;
  end(reached: End): void;
}

/** Shows what it is about, and takes a yes or a no; it goes on asking until one has arrived. */
export function Asking({ words, question, address, live, end }: AskingProps) {
  const [options, setOptions] = useState(question.options);
  const [signed, setSigned] = useState<Signed | null>(null);
  const [busy, setBusy] = useState<"confirm" | "decline" | null>(null);
  const [problem, setProblem] = useState<ConfirmationProblem | null>(null);
  const destination = { address, token: question.token };
  const { displayName, name } = question.user;

  // Whoever reads for long should hear of it before they use their passkey in vain.
  const deadline = useRef(0);
  useEffect(() => {
    deadline.current = performance.now() + (options.timeout ?? 0);
  }, [options]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what ends the page never changes
  useEffect(() => {
    // What has been signed may have arrived: only the server can say then how it ended.
    if (busy || signed) return;
    const left = Math.max(0, deadline.current - performance.now());
    const timer = setTimeout(() => end({ end: "expired", redirectTo: null }), left);
    return () => clearTimeout(timer);
  }, [busy, signed, options]);

  async function answer(how: "confirm" | "decline") {
    setBusy(how);
    setProblem(null);
    const outcome = await (how === "confirm" ? confirm(options, destination, signed) : decline(destination));
    if ("end" in outcome) {
      end(outcome);
      return;
    }
    if (outcome.options) setOptions(outcome.options);
    if (how === "confirm") setSigned(outcome.signed ?? null);
    setProblem(outcome.problem);
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
        {question.hides && <Alert tone="problem">{words.hides}</Alert>}
        <Agreement data={question.data} words={words} />
        <ExactText id={question.transactionId} pieces={question.exact} words={words} />
        {problem && <Alert tone="problem">{words.problems[problem]}</Alert>}
        <noscript>
          <Alert tone="problem">{words.noScript}</Alert>
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
