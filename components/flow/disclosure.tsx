import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { ActionDescriptor } from "#server/flow/wire";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { ActionForm } from "./action-form.tsx";
import { hasInputError, iconOf, needsConfirmation } from "./action-layout.ts";
import type { ItemReference, ViewContext } from "./view-context.ts";
import { actionWords } from "./words.ts";

/** What a person types into. */
const FIELDS = ":is(input:not([type=hidden], [type=checkbox], [readonly]), textarea)";

interface DisclosureProps {
  context: ViewContext;
  action: ActionDescriptor;
  item?: ItemReference | undefined;
  /** Read after the label, which may be the same elsewhere on the page. */
  about?: string | undefined;
  /** The style of the summary. */
  tone?: "link" | "secondary";
  wait?: number;
}

/**
 * An action behind a disclosure: it holds the fields, and the confirmation of a destructive action. It works
 * without scripts. With scripts, a button and the Escape key close it, which discards what was entered.
 */
export function Disclosure({
  context,
  action,
  item,
  about = item?.name,
  tone = "link",
  wait = 0,
}: DisclosureProps) {
  const { flow, words, copy, live } = context;
  const { answerCount, state, performed, itemId, notice } = flow.view;
  const isForThisItem = !item || itemId === item.id;
  const [open, setOpen] = useState(isForThisItem && hasInputError([action]));
  const { label, confirm } = actionWords(words, action.action, action.description, copy);
  const summary = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const isDestructive = needsConfirmation(action);
  const icon = iconOf(action);

  // biome-ignore lint/correctness/useExhaustiveDependencies: closes after success; stays open after an error
  useEffect(() => {
    if (performed !== action.action || !isForThisItem) return;
    const stays = state.error !== undefined || notice !== null;
    setOpen(stays);
    // A browser takes the focus from what is no longer shown, and gives it to nothing.
    if (!stays && body.current?.contains(document.activeElement)) summary.current?.focus();
  }, [answerCount]);

  /** Puts the cursor into the first field of a form that its owner has just opened. */
  function opened(isOpen: boolean): void {
    const byOwner = isOpen && !open && document.activeElement === summary.current;
    setOpen(isOpen);
    if (!byOwner) return;
    const first = body.current?.querySelector<HTMLInputElement>(FIELDS);
    first?.focus();
    first?.select();
  }

  function cancel(): void {
    body.current?.querySelector("form")?.reset();
    setOpen(false);
    summary.current?.focus();
  }

  function cancelByEscape(event: KeyboardEvent): void {
    // The Escape key also ends the composition of a character.
    if (event.key !== "Escape" || event.nativeEvent.isComposing || !open) return;
    event.stopPropagation();
    cancel();
  }

  return (
    <details
      className="stile-disclosure"
      data-destructive={isDestructive || undefined}
      open={open}
      onToggle={(event) => opened(event.currentTarget.open)}
      onKeyDown={cancelByEscape}
    >
      <summary ref={summary} className={`stile-button stile-button-${tone}`}>
        {icon && <Icon name={icon} />}
        <span className="stile-button-text">
          {label}
          {about && (
            <>
              {" "}
              <span className="stile-hidden">{about}</span>
            </>
          )}
        </span>
      </summary>
      <div className="stile-disclosure-body" ref={body}>
        {isDestructive && <p className="stile-hint">{confirm ?? words.page.confirm}</p>}
        <ActionForm
          context={context}
          action={action}
          item={item}
          tone={isDestructive ? "danger" : "secondary"}
          wait={wait}
          inDisclosure
        />
        {live && (
          <Button tone="link" type="button" onClick={cancel}>
            {words.page.cancel}
          </Button>
        )}
      </div>
    </details>
  );
}
