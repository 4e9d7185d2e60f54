import type { Page } from "@playwright/test";
import { jpegPicture } from "../server/testing/jpeg-pictures.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { type Account, setSessionCookie, signUp } from "./account.ts";
import { test as base, expect } from "./fixtures.ts";
import { expectPage, panel } from "./steps.ts";

/** An account with a passkey, an app, a phone, a trusted browser and another session. */
const test = base.extend<{ owner: Account }>({
  owner: async ({ page, context, server, database, mailbox, address }, use) => {
    const owner = await signUp(server.url, mailbox, address, { passkey: true });
    await withClient(database ?? "", async (client) => {
      const { rows } = await client.query("select tenant_id, user_id from emails where address = $1", [
        address,
      ]);
      const { tenant_id: tenant, user_id: user } = rows[0];
      const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0";
      await client.query(
        `insert into trusted_devices (tenant_id, id, user_id, token_hash, user_agent, ip_address, created_at, expires_at)
         values ($1, gen_random_uuid(), $2, 'x', $3, '198.51.100.7', '2026-11-16T23:30:00Z', now() + interval '30 days')`,
        [tenant, user, firefox],
      );
      await client.query(
        `insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, user_agent, ip_address,
           last_used_at, expires_at)
         values ($1, gen_random_uuid(), $2, now(), '[]', '{}', $3, '198.51.100.7', now(), now() + interval '1 day')`,
        [tenant, user, firefox],
      );
    });
    await setSessionCookie(context, server.url, owner);
    await page.goto("/account");
    await expectPage(page, "account");
    await use(owner);
  },
});

const focused = (page: Page) => page.locator(":focus");

/** Presses Tab until the focus is on a control of this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    if (name.test((await focused(page).allTextContents()).join(""))) return;
  }
  throw new Error(`Tab leads nowhere that is called ${name}`);
}

test("the account page is used with a keyboard: forms open, are cancelled and saved, and the focus stays near", async ({
  page,
  owner,
}) => {
  const passkeys = panel(page, "Passkeys");
  const name = passkeys.getByRole("textbox", { name: "Name" });
  await tabTo(page, /^Rename/);
  await page.keyboard.press("Enter");
  await expect(name).toBeFocused();
  const before = await name.inputValue();
  await page.keyboard.type("typed and given up");
  await page.keyboard.press("Escape");
  await expect(focused(page)).toHaveText(/^Rename/);
  await expect(name).toBeHidden();
  await page.keyboard.press("Enter");
  await expect(name).toHaveValue(before);
  await expect(name).toBeFocused();
  await page.keyboard.type("Key of my desk");
  await page.keyboard.press("Enter");
  await expect(passkeys.getByText("The name is changed.")).toBeVisible();
  await expect(focused(page)).toHaveText("Rename Key of my desk");

  // The last trusted browser: its section has nothing left but the confirmation.
  const browsers = panel(page, "Trusted browsers");
  await expect(browsers.getByText(/198\.51\.100\.x\s·\sLast used 17\sNov\s2026,\s0?0:30/)).toBeVisible();
  await tabTo(page, /^No longer trust Windows/);
  await page.keyboard.press("Enter");
  await tabTo(page, /^No longer trust$/);
  await page.keyboard.press("Enter");
  await expect(browsers.getByText("The browser is no longer trusted.")).toBeVisible();
  await expect(focused(page)).toHaveText("Trusted browsers");

  const sessions = panel(page, "Where you are signed in");
  await tabTo(page, /^Sign out everywhere else/);
  await page.keyboard.press("Enter");
  await tabTo(page, /^Yes, sign out everywhere else/);
  await page.keyboard.press("Enter");
  await expect(sessions.getByText("Every other device is signed out.")).toBeVisible();
  await expect(sessions.getByRole("listitem")).toHaveCount(1);
  await expect(focused(page)).toHaveText("Where you are signed in");
  expect(owner.address).toBeTruthy();
});

test("a picture is uploaded, shown without the place where it was taken, and removed", async ({
  page,
  owner: _,
}) => {
  const section = panel(page, "Name and picture");
  await section.getByText("You have not chosen one.").waitFor();
  const chooser = page.waitForEvent("filechooser");
  await section.getByRole("button", { name: "Change Picture" }).click();
  await (await chooser).setFiles({
    name: "me.jpg",
    mimeType: "image/jpeg",
    buffer: jpegPicture("wide"),
  });
  await expect(section.getByText("Your picture is saved.")).toBeVisible();
  const picture = page.locator(".stile-user-initial img");
  await expect(picture).toHaveJSProperty("naturalWidth", 256);
  const { picture: address } = await (await page.request.get("/me")).json();
  const served = await page.request.get(address);
  expect(served.headers()["content-type"]).toBe("image/jpeg");

  await page.reload();
  await expect(picture).toHaveJSProperty("naturalWidth", 256);
  await section.locator("summary").filter({ hasText: "Remove" }).click();
  await section.getByRole("button", { name: "Yes, remove it" }).click();
  await expect(section.getByText("Your picture is removed.")).toBeVisible();
  await expect(picture).toHaveCount(0);
  expect((await page.request.get(address)).status()).toBe(404);
});
