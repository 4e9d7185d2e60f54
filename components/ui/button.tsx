import type { ComponentPropsWithRef, ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

export type ButtonTone = "primary" | "secondary" | "choice" | "link" | "back" | "danger";

interface ButtonProps extends Omit<ComponentPropsWithRef<"button">, "className"> {
  tone: ButtonTone;
  /** The action is in progress: the button keeps its place and focus and shows a spinner. */
  busy?: boolean;
  icon?: IconName | undefined;
  /** Replaces the icon. */
  mark?: ReactNode;
  /** Small print; drawn on choices only. */
  hint?: string | undefined;
  children: ReactNode;
}

/** A button in one of six styles. `disabled` sets `aria-disabled`, so the button keeps the focus. */
export function Button({
  tone,
  busy = false,
  disabled = false,
  icon,
  mark,
  hint,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      className={`stile-button stile-button-${tone}`}
      aria-busy={busy || undefined}
      aria-disabled={disabled || undefined}
      onClick={(event) => {
        if (disabled || busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {mark ?? (icon && <Icon name={icon} />)}
      <span className="stile-button-text">
        <span>{children}</span>
        {tone === "choice" && hint && <span className="stile-button-hint">{hint}</span>}
      </span>
      {tone === "choice" && <Icon name="forward" />}
      <span className="stile-button-turning" aria-hidden="true" />
    </button>
  );
}
