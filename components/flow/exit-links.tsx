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
  const tone = copy.end ? "secondary" : "primary";
  return copy.nextPage === "account" ? (
    <LinkButton {...{ tone }} href={startOf(base, "profile")} label={words.page.toAccount} />
  ) : (
    <LinkButton {...{ tone }} href={base || "/"} label={words.page.toSignIn} />
  );
}

interface LinkButtonProps {
  href: string;
  label: string;
  tone?: "primary" | "secondary";
  /** Opens it in the same container. */
  onOpen?: () => void;
}

function LinkButton({ href, label, tone = "primary", onOpen }: LinkButtonProps) {
  const open = onOpen && ((event: MouseEvent) => [event.preventDefault(), onOpen()]);
  return (
    <a className={`stile-button stile-button-${tone}`} href={href} onClick={open}>
      <span className="stile-button-text">{label}</span>
    </a>
  );
}

/** Starts a new flow. Works as a plain link too. */
function StartAgain({ context }: { context: ViewContext }) {
  const { flow, type, words, base } = context;
  const { state, performed } = flow.view;
  const left = useCountdown(waitOf(state, performed)?.seconds ?? 0, state);
  return (
    <a
      className="stile-button stile-button-primary"
      href={startOf(base, type)}
      aria-disabled={left > 0 || undefined}
      onClick={(event) => {
        event.preventDefault();
        if (left === 0) void flow.restart();
      }}
    >
      <span className="stile-button-text">
        {left > 0 ? interpolate(words.page.tryAgainIn, { time: clockTime(left) }) : words.page.startAgain}
      </span>
    </a>
  );
}
