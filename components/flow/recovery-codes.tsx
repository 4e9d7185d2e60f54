import { useId } from "react";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import type { ViewContext } from "./view-context.ts";

interface RecoveryCodesProps {
  context: ViewContext;
  codes: readonly string[];
  /** Where the page redirects without a script; null if it does not. */
  redirectTo: string | null;
  onSaved: () => void;
}

/**
 * Recovery codes, shown once, with three ways to save them. The page waits until the user confirms that they are
 * saved.
 */
export function RecoveryCodes({ context: { words, live }, codes, redirectTo, onSaved }: RecoveryCodesProps) {
  const { page } = words;
  const titleId = useId();
  const text = `${codes.join("\n")}\n`;
  return (
    <section className="stile-codes" aria-labelledby={titleId}>
      <h2 className="stile-codes-title" id={titleId}>
        {page.recoveryCodes}
      </h2>
      <p className="stile-hint">{page.recoveryCodesSentence}</p>
      <ol className="stile-codes-list">
        {codes.map((code) => (
          <li key={code}>
            <code dir="ltr">{code}</code>
          </li>
        ))}
      </ol>
      <div className="stile-minor">
        <CopyButton text={text} label={page.copy} done={page.copied} />
        <a
          className="stile-button stile-button-link"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download={`${page.recoveryCodesFile}.txt`}
        >
          <Icon name="download" />
          <span className="stile-button-text">{page.download}</span>
        </a>
        <span className="stile-with-script">
          <Button tone="link" type="button" icon="print" onClick={() => window.print()}>
            {page.print}
          </Button>
        </span>
      </div>
      {live ? (
        <Button tone="primary" type="button" onClick={onSaved}>
          {page.saved}
        </Button>
      ) : (
        redirectTo !== null && (
          <a className="stile-button stile-button-primary" href={redirectTo}>
            {page.saved}
          </a>
        )
      )}
    </section>
  );
}
