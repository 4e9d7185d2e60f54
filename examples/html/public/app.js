const login = document.querySelector("stile-login");
const account = document.querySelector("#account");
const notice = document.querySelector("#notice");

/** Calls the application's own server; its cookies are sent along. */
const post = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body ?? {}),
  });

/** Shows the account, or the login. */
async function show() {
  const me = await fetch("/api/me");
  account.hidden = !me.ok;
  login.hidden = me.ok;
  if (me.ok) {
    const { userId, email } = await me.json();
    document.querySelector("#email").textContent = email ?? userId;
  } else if (me.status === 401) {
    const { url, codeChallenge } = await (await post("/api/sign-in")).json();
    login.setAttribute("code-challenge", codeChallenge);
    login.setAttribute("url", url);
  } else {
    notice.textContent = "The sign-in is not available at the moment.";
  }
}

login.addEventListener("stile-success", async ({ detail }) => {
  const answer = await post("/api/session", { code: detail.code });
  if (answer.ok) return show();
  notice.textContent = "The sign-in was not completed. Reload the page to try again.";
});

document.querySelector("#sign-out").addEventListener("click", async () => {
  const answer = await post("/api/sign-out");
  if (answer.ok) location.reload();
  else notice.textContent = "Signing out failed. Try again.";
});

await show();
