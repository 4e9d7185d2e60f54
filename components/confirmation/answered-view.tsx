import { useState } from "react";
import type { ConfirmationProblem, ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { type End, resume } from "./send-answer.ts";

/** What was answered just now, by somebody who may not have heard of it. */
export interface Answered {
  token: string;
  end: "confirmed" | "declined";
  /** Where the person goes now, for instance `shop.example`. */
  returnsTo: string;
}

interface ResumingProps {
  words: ConfirmationWords;
  answered: Answered;
  address: string;
  /** Whether there is a browser that runs this. */
  live: boolean;
  end(reached: End): void;
}

/** Says how it ended, and offers the way back that was lost. */
export function Resuming({ words, answered, address, live, end }: ResumingProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ConfirmationProblem | null>(null);

  async function proceed() {
    setBusy(true);
    setProblem(null);
    const outcome = await resume({ address, token: answered.token });
    if ("end" in outcome) {
      end(outcome);
      return;
    }
    setProblem(outcome.problem);
    setBusy(false);
  }

  return (
    <section className="stile-state">
      <div className="stile-content">
        <span className="stile-emblem">
          <Icon name="check" />
        </span>
        <h1 className="stile-title" tabIndex={-1}>
          {words.ends[answered.end].title}
        </h1>
        {problem && <Alert tone="problem">{words.problems[problem]}</Alert>}
        <Button tone="primary" type="button" busy={busy} disabled={!live} onClick={() => void proceed()}>
          {interpolate(words.continueAt, { host: answered.returnsTo })}
        </Button>
      </div>
    </section>
  );
}
