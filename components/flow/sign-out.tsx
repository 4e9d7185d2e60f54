import { Button } from "../ui/button.tsx";
import type { ViewContext } from "./view-context.ts";

/** Ends the session of this browser and redirects to the sign-in page. */
export function SignOut({ context, navigate }: { context: ViewContext; navigate: (url: string) => void }) {
  const { words, base, flow, openFlow } = context;
  const address = `${base}/logout`;

  async function signOut(): Promise<void> {
    // 401: the session had already ended.
    const answer = await fetch(address, { method: "POST", credentials: "include" }).catch(() => null);
    const ended = answer?.ok || answer?.status === 401;
    if (ended && openFlow) openFlow("login");
    else if (ended) navigate(base || "/");
    else flow.showNotice("connection_missing");
  }

  return (
    <form
      className="stile-sign-out"
      method="post"
      action={address}
      onSubmit={(event) => {
        event.preventDefault();
        void signOut();
      }}
    >
      <Button tone="link" type="submit">
        {words.page.signOut}
      </Button>
    </form>
  );
}
