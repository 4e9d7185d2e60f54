"use client";

import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

interface CopyButtonProps {
  text: string;
  label: string;
  /** Said for a moment when it is done. */
  done: string;
}

/** Puts a text on the clipboard. There is nothing of it where no script runs. */
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
        // Where the browser will not, the text still stands there to be marked and copied.
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
