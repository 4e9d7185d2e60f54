import { Button } from "../ui/button.tsx";
import type { ViewContext } from "./view-context.ts";

/**
 * Ends the session of this browser and redirects to the sign-in page, by the applications and the identity provider whose
 * sessions end in the browser too.
 */
export function SignOut({
  context,
  navigate,
  label = context.words.page.signOut,
}: {
  context: ViewContext;
  navigate: (url: string) => void;
  label?: string;
}) {
  const { base, flow, openFlow } = context;
  const address = `${base}/logout`;

  async function signOut(): Promise<void> {
    // A page of an application is returned to, as from a sign-in at a provider.
    const { signedOutAddress = location.origin + location.pathname } = context;
    const query = new URLSearchParams({ redirect_to: signedOutAddress });
    const answer = await fetch(openFlow ? `${address}?${query}` : address, {
      method: "POST",
      credentials: "include",
    }).catch(() => null);
    // 401: the session had already ended.
    const ended = answer?.ok || answer?.status === 401;
    const next = answer?.headers.get("X-Provider-Logout");
    if (ended && next) navigate(next);
    else if (ended && openFlow) openFlow("login");
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
        {label}
      </Button>
    </form>
  );
}
