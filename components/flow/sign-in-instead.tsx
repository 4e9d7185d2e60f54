import { Button } from "../ui/button.tsx";
import { START_OVER } from "./identity.tsx";
import type { ViewContext } from "./view-context.ts";

/** The way on for a user who signs up with the address of an account: signing in to it, with the address kept. */
export function SignInInstead({ context, address }: { context: ViewContext; address: string }) {
  const { words, base, live, openFlow } = context;
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
