import { Button } from "../ui/button.tsx";
import type { Stage } from "./view-context.ts";

/** Ends the session of this browser, and leads to the sign-in. */
export function SignOut({ stage, navigate }: { stage: Stage; navigate: (url: string) => void }) {
  const { words, base, flow } = stage;
  const address = `${base}/logout`;

  async function signOut(): Promise<void> {
    // Whoever was signed out already is where they wanted to be.
    const answer = await fetch(address, { method: "POST" }).catch(() => null);
    if (answer?.ok || answer?.status === 401) navigate(base || "/");
    else flow.tell("connection_missing");
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
