import { useState } from "react";
import type { ConfirmationError, ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { type End, resume } from "./send-answer.ts";

/** A transaction that was answered a moment ago, by a client that may not have received the reply. */
export interface Answered {
  token: string;
  end: "confirmed" | "declined";
  /** The host that the browser is redirected to, for instance `shop.example`. */
  returnsTo: string;
}

interface AnsweredViewProps {
  words: ConfirmationWords;
  answered: Answered;
  address: string;
  /** Whether scripts run. */
  live: boolean;
  end(reached: End): void;
}

/** Shows how the transaction was answered and offers the redirect that was lost. */
export function AnsweredView({ words, answered, address, live, end }: AnsweredViewProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ConfirmationError | null>(null);

  async function proceed() {
    setBusy(true);
    setError(null);
    const outcome = await resume({ address, token: answered.token });
    if ("end" in outcome) {
      end(outcome);
      return;
    }
    setError(outcome.error);
    setBusy(false);
  }

  return (
    <section className="stile-state">
      <div className="stile-content">
        <span className="stile-emblem">
          <Icon name={answered.end === "confirmed" ? "check" : "info"} />
        </span>
        <h1 className="stile-title" tabIndex={-1}>
          {words.ends[answered.end].title}
        </h1>
        {error && <Alert tone="error">{words.errors[error]}</Alert>}
        <Button tone="primary" type="button" busy={busy} disabled={!live} onClick={() => void proceed()}>
          {interpolate(words.continueAt, { host: answered.returnsTo })}
        </Button>
      </div>
    </section>
  );
}
