import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { button, enterAddress, enterPassword, expectPage, panel, titles } from "./steps.ts";
import { stile } from "./stile.ts";

const password = "seven herons over the lake";

/** Calls the administration interface below an address of a tenant. */
async function admin(
  address: string,
  key: string,
  method: string,
  path: string,
  body: object,
): Promise<void> {
  const response = await fetch(`${address}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

async function signIn(page: Page, address: string, email: string): Promise<void> {
  await page.goto(`${address}/`);
  await expectPage(page, "login");
  await enterAddress(page, email);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    new RegExp([titles.methods, titles.password].join("|").replaceAll("?", "\\?")),
  );
  if ((await page.getByRole("heading", { level: 1 }).textContent()) === titles.methods)
    await button(page, "Enter your password").click();
  await expectPage(page, "password");
  await enterPassword(page, password);
  await expectPage(page, "createPasskey");
}

test("A143 passkeys of two tenants' accounts with one id stay side by side in one browser", async ({
  page,
  context,
  server,
  authenticator,
  address: email,
}) => {
  // The administrator of the second tenant chooses the id of the first one's account.
  const id = crypto.randomUUID();
  const second = (await stile(server, ["tenants", "create", "--name", "Second"])).trim();
  const tenants = [
    { address: server.url, words: [] as string[] },
    { address: `${server.url}/t/${second}`, words: ["--tenant", second] },
  ];
  for (const { address, words } of tenants) {
    const key = await stile(server, ["keys", "create", "--interface", "admin", ...words]);
    const emails = [{ address: email, is_verified: true, is_primary: true }];
    await admin(address, key, "POST", "/users", { id, emails });
    await admin(address, key, "POST", `/users/${id}/password`, { password });
  }

  for (const [index, { address }] of tenants.entries()) {
    // A passkey manager would otherwise answer the autofill of the second tenant's page with the first one's passkey.
    await authenticator.willWait();
    await signIn(page, address, email);
    await authenticator.willConfirm();
    await page
      .getByRole("button", { name: /passkey/i })
      .first()
      .click();
    await expectPage(page, "success");
    expect(await authenticator.count()).toBe(index + 1);
    await page.goto(`${address}/account`);
    await expect(panel(page, "Passkeys").getByRole("listitem")).toHaveCount(1);
    await context.clearCookies();
  }
  expect(await authenticator.count()).toBe(2);
});
