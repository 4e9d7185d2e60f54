/* global Stile: embed.js, which Stile serves */
const account = document.querySelector("#account");
const notice = document.querySelector("#notice");

/** Calls the application's own server; its cookies are sent along. */
const post = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body ?? {}),
  });

/** Shows the account, or the frame with the login. */
async function show() {
  const me = await fetch("/api/me");
  account.hidden = !me.ok;
  if (me.ok) {
    const { userId, email } = await me.json();
    document.querySelector("#email").textContent = email ?? userId;
  } else if (me.status === 401 && "Stile" in window) {
    const { codeChallenge } = await (await post("/api/sign-in")).json();
    const { remove } = Stile.embed("#sign-in", {
      codeChallenge,
      onSuccess: async ({ code }) => {
        const answer = await post("/api/session", { code });
        if (!answer.ok) {
          notice.textContent = "The sign-in was not completed. Reload the page to try again.";
          return;
        }
        remove();
        await show();
      },
    });
  } else {
    notice.textContent = "The sign-in is not available at the moment.";
  }
}

document.querySelector("#sign-out").addEventListener("click", async () => {
  const answer = await post("/api/sign-out");
  if (answer.ok) location.reload();
  else notice.textContent = "Signing out failed. Try again.";
});

await show();
