import { useEffect, useRef } from "react";
import type { ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Icon } from "../ui/icon.tsx";
import type { End } from "./send-answer.ts";

/** Shows how the transaction ended and where to continue. */
export function ResultView({
  words,
  outcome: { end, redirectTo },
}: {
  words: ConfirmationWords;
  outcome: End;
}) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const host = redirectTo === null ? null : new URL(redirectTo).host;
  return (
    <section className="stile-state">
      <div className="stile-content">
        <span className="stile-emblem">
          <Icon name={end === "confirmed" ? "check" : "info"} />
        </span>
        <h1 className="stile-title" tabIndex={-1} ref={title}>
          {words.ends[end].title}
        </h1>
        {redirectTo === null || host === null ? (
          <p className="stile-sentence">{words.ends[end].sentence}</p>
        ) : (
          <>
            <p className="stile-sentence">{interpolate(words.redirecting, { host })}</p>
            <a className="stile-button stile-button-primary" href={redirectTo} rel="noreferrer">
              {interpolate(words.continueAt, { host })}
            </a>
          </>
        )}
      </div>
    </section>
  );
}
