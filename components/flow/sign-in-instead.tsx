import type { FlowState } from "#server/flow/wire";
import { Button } from "../ui/button.tsx";
import { START_OVER } from "./identity.tsx";
import { isText } from "./payload-readers.ts";
import type { ViewContext } from "./view-context.ts";
import { codeOf } from "./words.ts";

/** The way on for a user who signs up with the address of an account: signing in to it, with the address kept. */
export function SignInInstead({ context }: { context: ViewContext }) {
  const { flow, type, words, base, live, openFlow } = context;
  const address = type === "registration" ? takenAddress(flow.view.state, flow.view.subject) : null;
  if (address === null) return null;
  return (
    <form
      className="stile-form"
      method="post"
      action={`${base}/step`}
      onSubmit={(event) => {
        if (!openFlow) return;
        event.preventDefault();
        openFlow("login", address);
      }}
    >
      <input type="hidden" name="flow" value="login" />
      <input type="hidden" name="action" value={START_OVER} />
      <input type="hidden" name="version" value={0} />
      <input type="hidden" name="identifier" value={address} />
      {live && <input type="hidden" name="with_script" value="true" />}
      <Button tone="secondary" type="submit">
        {words.page.signInInstead}
      </Button>
    </form>
  );
}

/** The address that the state reports to be taken; null if it reports none. */
function takenAddress({ actions }: FlowState, subject: string | null): string | null {
  const taken = Object.values(actions)
    .flatMap(({ inputs }) => Object.values(inputs))
    .find(({ error }) => error && codeOf(error) === "email_already_exists");
  if (!taken) return null;
  return isText(taken.value) ? taken.value : subject;
}
