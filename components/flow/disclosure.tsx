import { useEffect, useState } from "react";
import type { ActionDescriptor } from "#server/flow/wire";
import { Icon } from "../ui/icon.tsx";
import { ActionForm } from "./action-form.tsx";
import { asksFirst, hasInputError, iconOf } from "./action-layout.ts";
import type { ItemReference, ViewContext } from "./view-context.ts";
import { actionWords } from "./words.ts";

interface FoldProps {
  context: ViewContext;
  action: ActionDescriptor;
  item?: ItemReference | undefined;
  /** The style of the summary. */
  tone?: "link" | "secondary";
  wait?: number;
}

/**
 * An action behind a disclosure: it holds the fields, and the confirmation of a destructive action. It works
 * without scripts.
 */
export function Fold({ context, action, item, tone = "link", wait = 0 }: FoldProps) {
  const { flow, words, copy } = context;
  const { turn, state, performed, about, notice } = flow.view;
  const isMine = !item || about === item.id;
  const [open, setOpen] = useState(isMine && hasInputError([action]));
  const { label, confirm } = actionWords(words, action.action, action.description, copy);
  const asks = asksFirst(action);
  const icon = iconOf(action);

  // biome-ignore lint/correctness/useExhaustiveDependencies: closes after success; stays open after an error
  useEffect(() => {
    if (performed === action.action && isMine) setOpen(state.error !== undefined || notice !== null);
  }, [turn]);

  return (
    <details
      className="stile-fold"
      data-asks={asks || undefined}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className={`stile-button stile-button-${tone}`}>
        {icon && <Icon name={icon} />}
        <span className="stile-button-text">
          {label}
          {item && (
            <>
              {" "}
              <span className="stile-hidden">{item.name}</span>
            </>
          )}
        </span>
      </summary>
      <div className="stile-fold-body">
        {asks && <p className="stile-hint">{confirm ?? words.page.confirm}</p>}
        <ActionForm
          context={context}
          action={action}
          item={item}
          look={asks ? "danger" : "secondary"}
          wait={wait}
          folded
        />
      </div>
    </details>
  );
}
