// Stands in for the app on a phone: `node app.js browser`, or `node app.js form`.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline/promises";

const stileUrl = process.env.STILE_URL ?? "http://localhost:3000";
const backEnd = process.env.BACK_END ?? "http://localhost:4000";
const port = Number(process.env.APP_PORT ?? 4001);

// The verifier stays in the app, so a code that another app has caught is worth nothing (RFC 7636, RFC 8252 8.1).
const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");

/** The hosted page in the browser of the phone (RFC 8252). Passkeys and identity providers work there. */
async function signInByBrowser() {
  const state = randomBytes(16).toString("base64url");
  const query = new URLSearchParams({
    redirect_to: `${backEnd}/signed-in`,
    code_challenge: challenge,
    state,
  });
  // On a phone: ASWebAuthenticationSession, or a Custom Tab.
  console.log(`Open in a browser: ${stileUrl}/login?${query}`);
  return new Promise((resolve) => {
    const listener = createServer((request, response) => {
      const link = new URL(request.url, backEnd);
      // A link that this sign-in did not ask for.
      if (link.searchParams.get("state") !== state) return response.writeHead(400).end("Not expected.");
      response.end("You can go back to the app.");
      listener.close();
      resolve(link.searchParams.get("code"));
    }).listen(port, "127.0.0.1");
  });
}

/** Screens of the app's own: each is drawn from the state that Stile answers, so new methods need no new app. */
async function signInByForm() {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const send = async (path, body) => {
    const answer = await fetch(stileUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return answer.json();
  };
  const act = ({ csrf_token }, { href }, input_data) => send(href, { csrf_token, input_data });

  let state = await send(`/login?code_challenge=${challenge}`);
  // An app without passkeys; one with them passes on what the phone can do, and performs the requests of the payload.
  state = await act(state, state.actions.register_client_capabilities, { webauthn_available: false });
  while (state.name !== "success") {
    if (!state.csrf_token) throw new Error(state.error?.message ?? state.name);
    if (state.error) console.log(`! ${state.error.message}`);
    const actions = Object.values(state.actions);
    console.log(`\n${state.name}`);
    for (const [index, { description }] of actions.entries()) console.log(`  ${index + 1} ${description}`);
    const chosen = actions[Number(await terminal.question("Number: ")) - 1];
    if (!chosen) continue;
    const input = {};
    for (const { name, hidden, error } of Object.values(chosen.inputs)) {
      if (hidden) continue;
      if (error) console.log(`! ${error.message}`);
      const value = await terminal.question(`${name}: `);
      if (value !== "") input[name] = value;
    }
    state = await act(state, chosen, input);
  }
  terminal.close();
  return state.payload.authorization_code;
}

const code = process.argv[2] === "form" ? await signInByForm() : await signInByBrowser();

const answer = await fetch(`${backEnd}/api/sessions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ code, codeVerifier: verifier }),
});
if (!answer.ok) throw new Error(`The back end refused the sign-in (${answer.status}).`);
const { session } = await answer.json(); // belongs into the Keychain, or the Keystore

const authorization = `Bearer ${session}`;
const me = await fetch(`${backEnd}/api/me`, { headers: { authorization } });
console.log("Signed in:", await me.json());
const signOut = await fetch(`${backEnd}/api/sessions`, { method: "DELETE", headers: { authorization } });
console.log(signOut.ok ? "Signed out." : `Signing out failed (${signOut.status}).`);
