import { UserManager } from "oidc-client-ts";

const here = window.location.origin;

const users = new UserManager({
  authority: import.meta.env.VITE_STILE_URL ?? "http://localhost:3000",
  client_id: "shop",
  redirect_uri: `${here}/signed-in`,
  post_logout_redirect_uri: `${here}/`,
  scope: "openid email",
  // The claims of scopes are in the answer of UserInfo.
  loadUserInfo: true,
});

async function currentUser() {
  const { pathname, search } = window.location;
  if (pathname !== "/signed-in" || !search) return (await users.getUser()) ?? signedInElsewhere();
  // The code is in the address: it is redeemed once, and taken out. A hidden frame hands it to its page.
  const user = await users.signinCallback();
  window.history.replaceState({}, "", "/");
  return user;
}

/** A hidden frame asks Stile for a visitor who has a session there, without a question (`prompt=none`). */
const signedInElsewhere = () => users.signinSilent().catch(() => null);

/** @param user null without one */
function show(user, message) {
  const signedIn = user && !user.expired;
  document.querySelector("#status").textContent =
    message ?? (signedIn ? `Signed in as ${user.profile.email}` : "Not signed in.");
  const actions = signedIn
    ? [button("Renew", renew), button("Sign out", () => users.signoutRedirect())]
    : [button("Sign in", () => users.signinRedirect())];
  document.querySelector("#actions").replaceChildren(...actions);
}

/** By the refresh token, as the library does by itself shortly before the access token expires. */
async function renew() {
  const before = (await users.getUser())?.access_token;
  const user = await users.signinSilent();
  show(user, user?.access_token === before ? "Nothing was renewed." : "The tokens are new.");
}

function button(label, act) {
  const made = document.createElement("button");
  made.textContent = label;
  made.addEventListener("click", () => act().catch(fail));
  return made;
}

const fail = (error) => show(null, `Not signed in: ${error.message}`);

currentUser().then((user) => show(user), fail);
