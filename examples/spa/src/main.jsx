import { Login } from "@stile-auth/react";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import "@stile-auth/react/stile.css";

/** Calls the application's own server; its cookies are sent along. */
const call = (path, method = "GET", body = {}) =>
  fetch(path, {
    method,
    ...(method === "GET"
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });

/** `user` of a session, `signIn` for a page without one, or neither while nothing is known. */
async function load() {
  const me = await call("/api/me");
  if (me.ok) return { user: await me.json() };
  if (me.status !== 401) return { notice: "The sign-in is not available at the moment." };
  return { signIn: await (await call("/api/sign-in", "POST")).json() };
}

// Once for a page, although StrictMode runs effects twice: the cookie holds one verifier.
const first = load();

function App() {
  const [{ user, signIn, notice }, set] = useState({});
  useEffect(() => void first.then(set), []);

  async function finish({ code }) {
    const answer = await call("/api/session", "POST", { code });
    set(
      answer.ok ? await load() : { notice: "The sign-in was not completed. Reload the page to try again." },
    );
  }

  async function signOut() {
    const answer = await call("/api/sign-out", "POST");
    set(answer.ok ? await load() : { user, notice: "Signing out failed. Try again." });
  }

  return (
    <>
      <header>Shop</header>
      <p role="status">{notice}</p>
      {user && (
        <section>
          <h1>Your account</h1>
          <p>
            Signed in as <b>{user.email ?? user.userId}</b>
          </p>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </section>
      )}
      {signIn && <Login url={signIn.url} codeChallenge={signIn.codeChallenge} onSuccess={finish} />}
    </>
  );
}

createRoot(document.querySelector("#root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
