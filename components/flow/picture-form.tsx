import { type ChangeEvent, useEffect, useId, useRef, useState } from "react";
import type { ActionDescriptor } from "#server/flow/wire";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { smallPicture } from "./small-picture.ts";
import type { ViewContext } from "./view-context.ts";
import { actionWords, errorText } from "./words.ts";

/** The input that takes the picture. */
const INPUT = "picture";

/**
 * A button that opens the browser's choice of a file and sends the picture at once, made small. It needs a script, so it is
 * drawn only where one runs.
 */
export function PictureForm({ context, action }: { context: ViewContext; action: ActionDescriptor }) {
  const { flow, words, copy, live } = context;
  const { busy, answerCount } = flow.view;
  const [unreadable, setUnreadable] = useState(false);
  const [reading, setReading] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const id = useId();
  const input = action.inputs[INPUT];
  const isBusy = reading || busy === action.action;

  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer replaces what the page found
  useEffect(() => setUnreadable(false), [answerCount]);

  if (!live || !input) return null;
  const error = unreadable ? { code: "value_invalid_error" } : input.error;
  const { label } = actionWords(words, action.action, action.description, copy);

  async function send({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [chosen] = currentTarget.files ?? [];
    // The same file can be chosen again.
    currentTarget.value = "";
    if (!chosen || busy !== null) return;
    setReading(true);
    const picture = await smallPicture(chosen, input?.max_length ?? 0);
    setReading(false);
    setUnreadable(picture === null);
    if (picture !== null) await flow.act(action.action, { [INPUT]: picture });
  }

  return (
    <div className="stile-picture-form">
      <Button
        tone="link"
        type="button"
        busy={isBusy}
        disabled={busy !== null && !isBusy}
        onClick={() => file.current?.click()}
        {...(error ? { "aria-describedby": id } : {})}
      >
        {label} <span className="stile-hidden">{words.page.picture}</span>
      </Button>
      <input
        ref={file}
        type="file"
        accept="image/*"
        aria-label={words.page.picture}
        hidden
        onChange={(event) => void send(event)}
      />
      {error && (
        <p className="stile-fault" id={id} role="alert">
          <Icon name="alert" />
          <span>{errorText(words, error, { name: INPUT })}</span>
        </p>
      )}
    </div>
  );
}
