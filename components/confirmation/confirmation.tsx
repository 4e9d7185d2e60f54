import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import type { ConfirmationEnd, ConfirmationWords } from "#words/confirmation";
import { directionOf } from "#words/direction";
import { Brand, type BrandProps } from "../ui/brand.tsx";
import { usePageTitle } from "../ui/use-page-title.ts";
import { type Answered, AnsweredView } from "./answered-view.tsx";
import { addressWithToken, forgetToken, hideToken } from "./page-token.ts";
import { type Question, QuestionView } from "./question-view.tsx";
import { ResultView } from "./result-view.tsx";
import type { End } from "./send-answer.ts";

export interface ConfirmationProps extends BrandProps {
  words: ConfirmationWords;
  language: string;
  /** The address that answers are posted to. */
  address: string;
  /** The open question, or why there is none. */
  content: { question: Question } | { answered: Answered } | { end: ConfirmationEnd };
  navigate?: (url: string) => void;
  /** The footer of the page. */
  children?: ReactNode;
}

/** The page that shows a transaction to the user and takes the answer. */
export function Confirmation({
  words,
  language,
  service,
  logo,
  address,
  content,
  navigate = (url) => location.replace(url),
  children,
}: ConfirmationProps) {
  const question = "question" in content ? content.question : null;
  const answered = "answered" in content ? content.answered : null;
  const [outcome, setOutcome] = useState<End | null>(
    "end" in content ? { end: content.end, redirectTo: null } : null,
  );
  const live = useSyncExternalStore(noSubscription, inBrowser, onServer);

  useEffect(() => {
    const open = question ?? answered;
    if (open) hideToken(open.token);
    else {
      const again = "end" in content && content.end === "unknown" ? addressWithToken() : null;
      if (again) location.replace(again);
      else forgetToken();
    }
  }, [question, answered, content]);

  function end(reached: End) {
    forgetToken();
    setOutcome(reached);
    if (reached.redirectTo !== null) navigate(reached.redirectTo);
  }

  const reached = outcome?.end ?? answered?.end;
  usePageTitle(`${reached ? words.ends[reached].title : words.title} · ${service}`);
  return (
    <main className="stile-page" lang={language} dir={directionOf(language)} data-confirmation="">
      <Brand service={service} {...(logo ? { logo } : {})} />
      <div className="stile-card">
        {outcome && <ResultView words={words} outcome={outcome} />}
        {!outcome && question && (
          <QuestionView words={words} question={question} address={address} live={live} end={end} />
        )}
        {!outcome && answered && (
          <AnsweredView words={words} answered={answered} address={address} live={live} end={end} />
        )}
      </div>
      <footer className="stile-footer">{children}</footer>
    </main>
  );
}

const noSubscription = () => () => {};
const inBrowser = () => true;
const onServer = () => false;
