import { redirect } from "next/navigation";
import { session, signInUrl } from "../../stile.js";
import { signOut } from "./actions.js";

export default async function Account() {
  const verified = await session();
  // The proxy has seen a genuine token, whose session may have been ended since.
  if (!verified.ok) redirect(signInUrl("/account"));
  const { userId, email } = verified.session;
  return (
    <form action={signOut}>
      <h1>Your account</h1>
      <p>
        Signed in as <b>{email ?? userId}</b>
      </p>
      <button type="submit">Sign out</button>
    </form>
  );
}
