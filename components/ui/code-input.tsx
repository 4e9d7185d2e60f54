import { type ComponentPropsWithoutRef, useEffect, useRef, useState } from "react";

interface CodeInputProps
  extends Omit<ComponentPropsWithoutRef<"input">, "className" | "type" | "value" | "onInput"> {
  length: number;
  /** Digits, or digits and capital letters; small letters are entered in their place. */
  charset: "numeric" | "alphanumeric";
  /** Called when the last character is entered. */
  onComplete?: (input: HTMLInputElement) => void;
}

/**
 * A one-time code: a single real input, so that autofill, paste and screen readers work, over decorative cells. It
 * starts empty; a new `key` empties it.
 */
export function CodeInput({ length, charset, onComplete, ...rest }: CodeInputProps) {
  const [filled, setFilled] = useState(0);
  const field = useRef<HTMLInputElement>(null);

  // Characters that were typed before the script arrived.
  useEffect(() => setFilled(field.current?.value.length ?? 0), []);

  function setCode(text: string, input: HTMLInputElement): void {
    // Input methods for Chinese and Japanese enter digits of full width.
    const code = text.normalize("NFKC").replace(/\s/g, "").slice(0, length);
    if (input.value !== code) input.value = code;
    setFilled(code.length);
    if (code.length === length && filled < length) onComplete?.(input);
  }

  return (
    <div className="stile-code" dir="ltr">
      <div className="stile-code-cells" aria-hidden="true">
        {Array.from({ length }, (_, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: cells never move
            key={index}
            className="stile-code-cell"
            data-active={index === Math.min(filled, length - 1) || undefined}
          />
        ))}
      </div>
      <div className="stile-code-field">
        <input
          {...rest}
          ref={field}
          className="stile-code-input"
          type="text"
          inputMode={charset === "numeric" ? "numeric" : "text"}
          autoComplete="one-time-code"
          autoCapitalize={charset === "numeric" ? "none" : "characters"}
          spellCheck={false}
          maxLength={length}
          onInput={(event) => {
            // A change of the value would break the composition off.
            if (!(event.nativeEvent as InputEvent).isComposing)
              setCode(event.currentTarget.value, event.currentTarget);
          }}
          onCompositionEnd={(event) => setCode(event.currentTarget.value, event.currentTarget)}
          onPaste={(event) => {
            // The browser would truncate the text to the maximum length before the code is extracted.
            event.preventDefault();
            setCode(codeIn(event.clipboardData.getData("text"), length, charset), event.currentTarget);
          }}
        />
      </div>
    </div>
  );
}

/** The code in a pasted text, which may be a whole sentence or have the code in groups. */
function codeIn(text: string, length: number, charset: CodeInputProps["charset"]): string {
  if (charset === "alphanumeric")
    return new RegExp(`(?<!\\w)[A-Z0-9]{${length}}(?!\\w)`).exec(text)?.[0] ?? text;
  const joined = text.replace(/(?<=\d)[\s-](?=\d)/g, "");
  return new RegExp(`(?<!\\d)\\d{${length}}(?!\\d)`).exec(joined)?.[0] ?? text;
}
