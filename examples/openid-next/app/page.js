import { session } from "../auth.js";
import { signIn, signOut } from "./actions.js";

export default async function Page() {
  const { user } = (await session()) ?? {};
  return (
    <main>
      <h1>Shop</h1>
      {user ? (
        <form action={signOut}>
          <p>Signed in as {user.email}</p>
          <button type="submit">Sign out</button>
        </form>
      ) : (
        <form action={signIn}>
          <button type="submit">Sign in</button>
        </form>
      )}
    </main>
  );
}
