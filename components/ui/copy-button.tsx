import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

interface CopyButtonProps {
  text: string;
  label: string;
  /** Shown for a moment after copying. */
  done: string;
}

/** Copies a text to the clipboard. Hidden without scripts. */
export function CopyButton({ text, label, done }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 3000);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <span className="stile-with-script">
      <Button
        tone="link"
        type="button"
        icon={copied ? "check" : "copy"}
        // Without clipboard access the text can still be selected and copied.
        onClick={() =>
          void navigator.clipboard?.writeText(text).then(
            () => setCopied(true),
            () => {},
          )
        }
      >
        <span aria-live="polite">{copied ? done : label}</span>
      </Button>
    </span>
  );
}
