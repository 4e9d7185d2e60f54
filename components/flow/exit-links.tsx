import type { MouseEvent } from "react";
import { clockTime, useCountdown } from "../ui/countdown.ts";
import { waitOf } from "./action-layout.ts";
import { isErrorAnswer } from "./error-answer.ts";
import { signInAt, startOf } from "./page-addresses.ts";
import type { ViewContext } from "./view-context.ts";
import { interpolate } from "./words.ts";

/** Links out of a state that has no actions. */
export function ExitLinks({
  context,
  unsavedCodes,
  redirecting,
  deadEnd,
}: {
  context: ViewContext;
  unsavedCodes: boolean;
  redirecting: boolean;
  deadEnd: boolean;
}) {
  const { flow, words, copy, base, pageValues, openFlow } = context;
  const { state } = flow.view;
  const signIn = openFlow ? { onOpen: () => openFlow("login") } : {};
  if (isErrorAnswer(state) && state.error?.code === "unauthorized") {
    return <LinkButton {...signIn} href={signInAt(base, pageValues.redirect_to)} label={words.page.signIn} />;
  }
  if (isErrorAnswer(state)) return <StartAgain context={context} />;
  if (deadEnd && (state.error || !copy.nextPage))
    return <LinkButton {...signIn} href={base || "/"} label={words.page.toSignIn} />;
  // What follows the end of an embedded flow is the application's.
  if (unsavedCodes || redirecting || !copy.nextPage || openFlow) return null;
  return (
    <LinkButton
      tone={copy.end ? "secondary" : "primary"}
      {...(copy.nextPage === "account"
        ? { href: startOf(base, "profile"), label: words.page.toAccount }
        : { href: base || "/", label: words.page.toSignIn })}
    />
  );
}

interface LinkButtonProps {
  href: string;
  label: string;
  tone?: "primary" | "secondary";
  disabled?: boolean;
  /** What a click does in place of following the link. */
  onOpen?: () => void;
}

function LinkButton({ href, label, tone = "primary", disabled, onOpen }: LinkButtonProps) {
  const open = onOpen && ((event: MouseEvent) => [event.preventDefault(), onOpen()]);
  return (
    <a
      className={`stile-button stile-button-${tone}`}
      href={href}
      aria-disabled={disabled || undefined}
      onClick={open}
    >
      <span className="stile-button-text">{label}</span>
    </a>
  );
}

/** Starts a new flow. Works as a plain link too. */
function StartAgain({ context }: { context: ViewContext }) {
  const { flow, type, words, base } = context;
  const { state, performed } = flow.view;
  const left = useCountdown(waitOf(state, performed)?.seconds ?? 0, state);
  const { tryAgainIn, startAgain } = words.page;
  return (
    <LinkButton
      href={startOf(base, type)}
      label={left > 0 ? interpolate(tryAgainIn, { time: clockTime(left) }) : startAgain}
      disabled={left > 0}
      onOpen={() => left === 0 && void flow.restart()}
    />
  );
}
