import { Breakable } from "../ui/breakable.tsx";
import { Button } from "../ui/button.tsx";
import { identifierOf, START_OVER } from "./identity.tsx";
import { isText } from "./payload-readers.ts";
import type { FlowView } from "./use-flow.ts";
import type { ViewContext } from "./view-context.ts";
import { codeOf } from "./words.ts";

/**
 * The address that a state reports to be that of an account; null if it reports none. At a sign-up the user has typed
 * it, or an identity provider has given it; on the account page the account may be the user's own.
 */
export function takenAddress({ type, flow: { view } }: ViewContext): string | null {
  const { taken_address: given } = view.state.payload;
  if (isText(given)) return given;
  return type === "registration" ? typedAddress(view) : null;
}

function typedAddress({ state, subject }: FlowView): string | null {
  const taken = Object.values(state.actions)
    .flatMap(({ inputs }) => Object.values(inputs))
    .find(({ error }) => error && codeOf(error) === "email_already_exists");
  return taken ? (isText(taken.value) ? taken.value : subject) : null;
}

/**
 * The way on for a user whose address is that of an account: signing in to it, with the address kept.
 *
 * @param alone whether no field shows the address; then it stands here, unless it stands above already
 */
export function SignInInstead({
  context,
  address,
  alone,
}: {
  context: ViewContext;
  address: string;
  alone: boolean;
}) {
  const { flow, type, words, base, live, openFlow } = context;
  const { busy } = flow.view;
  return (
    <form
      className="stile-form"
      method="post"
      action={`${base}/step`}
      onSubmit={(event) => {
        if (type !== "login" && !openFlow) return;
        event.preventDefault();
        if (type === "login") void flow.restart(address);
        else openFlow?.("login", address);
      }}
    >
      <input type="hidden" name="flow" value="login" />
      <input type="hidden" name="action" value={START_OVER} />
      <input type="hidden" name="version" value={0} />
      <input type="hidden" name="identifier" value={address} />
      {live && <input type="hidden" name="with_script" value="true" />}
      {alone && identifierOf(context) !== address && (
        <p className="stile-sentence">
          <strong className="stile-subject" dir="auto">
            <Breakable text={address} />
          </strong>
        </p>
      )}
      <Button tone={alone ? "primary" : "secondary"} type="submit" busy={busy !== null}>
        {words.page.signInInstead}
      </Button>
    </form>
  );
}
