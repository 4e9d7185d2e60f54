import type { FlowWords } from "#words/flow";
import { Confirmation, type ConfirmationProps } from "../../components/confirmation/confirmation.tsx";
import { Languages, type LanguagesProps } from "../../components/ui/languages.tsx";
import { Failing } from "./failing.tsx";

export interface ConfirmationPageProps extends Omit<ConfirmationProps, "children" | "navigate"> {
  languages: LanguagesProps;
  /** What is said if drawing the page fails. */
  errorWords: Pick<FlowWords, "errors" | "page">;
}

/** The page on which a user answers a transaction. */
export function ConfirmationPage({ languages, errorWords, ...confirmation }: ConfirmationPageProps) {
  return (
    <Failing words={errorWords}>
      <Confirmation {...confirmation}>
        <Languages {...languages} />
      </Confirmation>
    </Failing>
  );
}
