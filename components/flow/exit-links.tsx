import { clockTime, useCountdown } from "../ui/countdown.ts";
import { waitOf } from "./action-layout.ts";
import { signInAt, startOf } from "./page-addresses.ts";
import { isRefusal } from "./use-flow.ts";
import type { Stage } from "./view-context.ts";
import { interpolate } from "./words.ts";

/** Where to go from a state that leads nowhere by itself. */
export function WaysOut({
  stage,
  held,
  away,
  stuck,
}: {
  stage: Stage;
  held: boolean;
  away: boolean;
  stuck: boolean;
}) {
  const { flow, words, here, base, known } = stage;
  const { state } = flow.view;
  if (isRefusal(state) && state.error?.code === "unauthorized") {
    return <LinkButton href={signInAt(base, known.redirect_to)} label={words.page.signIn} />;
  }
  if (isRefusal(state)) return <StartAgain stage={stage} />;
  if (stuck && state.error) return <LinkButton href={base || "/"} label={words.page.toSignIn} />;
  if (held || away || !here.leads) return null;
  return here.leads === "account" ? (
    <LinkButton tone="secondary" href={startOf(base, "profile")} label={words.page.toAccount} />
  ) : (
    <LinkButton tone="secondary" href={base || "/"} label={words.page.toSignIn} />
  );
}

interface LinkButtonProps {
  href: string;
  label: string;
  tone?: "primary" | "secondary";
}

function LinkButton({ href, label, tone = "primary" }: LinkButtonProps) {
  return (
    <a className={`stile-button stile-button-${tone}`} href={href}>
      <span className="stile-button-text">{label}</span>
    </a>
  );
}

/** The way out of a flow that has none of its own. It works as a plain link too. */
function StartAgain({ stage }: { stage: Stage }) {
  const { flow, type, words, base } = stage;
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
