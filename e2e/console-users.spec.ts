import { flowClient } from "../server/testing/flow-client.ts";
import { signUp } from "./account.ts";
import { consoleSettings, expectAccessible, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";

test.use({
  settings: {
    ...consoleSettings,
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
    STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
    STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false",
  },
});

const newName = () => `ada${crypto.randomUUID().slice(0, 8)}`;

test("users are found, created, exported, and changed together @next", async ({ page, server, account }) => {
  const base = await openConsole(page, server, account);
  const rows = page.getByRole("table", { name: "Users" }).locator("tbody tr[tabindex]");
  const name = newName();

  await page.getByRole("link", { name: "Users" }).click();
  for (const which of ["1", "2"]) {
    await page.goto(`${base}/users`);
    await page.getByRole("button", { name: "Create a user" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a user" });
    await dialog.getByLabel("Email addresses").fill(`${name}.${which}@example.com`);
    await dialog.getByRole("button", { name: "Create a user" }).click();
    await expect(page.getByRole("heading", { level: 1, name: `${name}.${which}@example.com` })).toBeVisible();
  }

  await page.goto(`${base}/users`);
  await page.getByLabel("Search", { exact: true }).fill(name);
  await expect(rows).toHaveCount(2);
  await expect(page).toHaveURL(new RegExp(`q=${name}`));
  await expectAccessible(page);

  const exported = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "As CSV" }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await exported).createReadStream()) chunks.push(chunk as Buffer);
  const csv = Buffer.concat(chunks).toString();
  expect(csv).toContain(`${name}.1@example.com`);
  expect(csv).not.toContain(account.address);

  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Language" }).check();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("columnheader", { name: "Language" })).toBeVisible();

  const act = async (action: string) => {
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page
      .getByRole("region", { name: "2 users selected" })
      .getByRole("button", { name: action, exact: true })
      .click();
  };
  const confirm = async (action: string) => {
    await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();
    await expect(page.getByText("2 users were changed.")).toBeVisible();
    await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).last().click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
  };
  await act("Block");
  await confirm("Block");
  await expect(rows.getByText("Blocked")).toHaveCount(2);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("combobox", { name: "Blocked" }).click();
  await page.getByRole("option", { name: "no", exact: true }).click();
  await expect(page.getByText("No user fits")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await expect(rows).toHaveCount(2);
  await act("Unblock");
  await confirm("Unblock");
  await act("Delete");
  const remove = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  await expect(remove).toBeDisabled();
  await page.getByLabel("Type “2” to confirm").fill("2");
  await confirm("Delete");
  await expect(page.getByText("No user fits")).toBeVisible();
});

test("a user is told apart by what the account has, and changed on its page @next", async ({
  page,
  server,
  mailbox,
  account,
  pageErrors,
}) => {
  // What the service rejects is shown on the page.
  pageErrors.expect(/status of 400/);
  const address = `${newName()}@example.com`;
  await signUp(server.url, mailbox, address, { passkey: true, app: true });
  const base = await openConsole(page, server, account);
  await page.goto(`${base}/users?q=${address}`);
  await page.getByRole("table", { name: "Users" }).locator("tbody tr[tabindex]").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: address })).toBeVisible();

  await test.step("profile", async () => {
    await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
    await page.getByRole("region", { name: "Profile" }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByRole("button", { name: "Undo" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("");

    const emails = page.getByRole("region", { name: "Email addresses" });
    await emails.getByLabel("New address").fill("not an address");
    await emails.getByRole("button", { name: "Add" }).click();
    await expect(emails.getByLabel("New address")).toHaveAccessibleDescription(/must be an email address/);
    await emails.getByLabel("New address").fill(`other-${address}`);
    await emails.getByRole("checkbox", { name: "Verified" }).check();
    await emails.getByRole("button", { name: "Add" }).click();
    await emails.getByRole("button", { name: `Make primary other-${address}` }).click();
    await expect(page.getByRole("heading", { level: 1, name: `other-${address}` })).toBeVisible();
    await emails.getByRole("button", { name: `Remove ${address}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await expect(emails.getByRole("listitem")).toHaveCount(1);

    const username = page.getByRole("region", { name: "Username" });
    await username.getByLabel("Username").fill(newName());
    await username.getByRole("button", { name: "Save" }).click();
    await expect(username.getByRole("button", { name: "Remove Username" })).toBeVisible();

    const phone = page.getByRole("region", { name: "Phone number" });
    await phone.getByLabel("Phone number").fill("12");
    await phone.getByRole("button", { name: "Save" }).click();
    await expect(phone.getByLabel("Phone number")).toHaveAccessibleDescription(/must be a mobile number/);
    await expect(page.getByRole("alert").filter({ hasText: "must be" })).toHaveCount(0);

    const metadata = page.getByRole("region", { name: "Metadata" });
    await metadata.getByRole("textbox", { name: "Public" }).fill('{"plan": null}');
    await expect(metadata.getByText("A member cannot be null.")).toBeVisible();
    await metadata.getByRole("textbox", { name: "Public" }).fill('{"plan": "gold"}');
    // The button is disabled while the change is under way too, and a reload would give it up.
    const saved = page.waitForResponse((answer) => answer.url().includes("patchUserMetadata"));
    await metadata.getByRole("button", { name: "Save Public" }).click();
    expect((await saved).ok()).toBe(true);
    await page.reload();
    await expect(metadata.getByRole("textbox", { name: "Public" })).toHaveValue(/"plan": "gold"/);
    await expectAccessible(page);
  });

  await test.step("sign-in", async () => {
    await page.getByRole("tab", { name: "Sign-in" }).click();
    await expect(page).toHaveURL(/tab=sign_in/);
    const why = page.getByRole("region", { name: "Can this person sign in?" });
    await expect(why.getByText(/^Yes, by: .*password/)).toBeVisible();
    await expectAccessible(page);
    const credentials = page.getByRole("region", { name: "Credentials" });
    for (const kind of ["Passkey", "Authenticator app"]) {
      await credentials.getByRole("button", { name: `Remove ${kind}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await expect(credentials.getByText(kind)).toHaveCount(0);
    }
    await page.getByRole("button", { name: "Block", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Block" }).click();
    await expect(why.getByText("No. The user is blocked.")).toBeVisible();
    await expect(why.getByText("The user is blocked.", { exact: true }).first()).toBeVisible();
    await page.getByRole("alert").getByRole("button", { name: "Undo" }).click();
    await expect(why.getByText(/^Yes, by:/)).toBeVisible();
    await page.getByRole("button", { name: "Send recovery mail" }).click();
    await expect(page.getByText("The mail is queued.")).toBeVisible();
  });

  await test.step("sessions", async () => {
    await page.goto(`${base}/users?q=${account.address}`);
    await page.getByRole("link", { name: account.address }).click();
    await page.getByRole("tab", { name: "Sessions" }).click();
    await expect(page.getByRole("table", { name: "Sessions" }).locator("tbody tr")).not.toHaveCount(0);
    await expectAccessible(page);
    await page.goto(`${base}/users?q=other-${address}`);
    await page.getByRole("link", { name: address }).click();
    await page.getByRole("tab", { name: "Sessions" }).click();
    await expect(page.getByText("No live session")).toBeVisible();
  });

  await test.step("timeline", async () => {
    await page.getByRole("tab", { name: "Timeline" }).click();
    await expect(page.getByText("An operator blocked the user.")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("combobox", { name: "Shown" }).click();
    await page.getByRole("option", { name: "Mails" }).click();
    await expect(page.getByText("An operator blocked the user.")).toHaveCount(0);
    await expect(page).toHaveURL(/kind=mail/);
  });

  await test.step("deletion", async () => {
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete this user?" });
    await expect(dialog.getByText("The account itself: 1")).toBeVisible();
    await expectAccessible(page);
    await dialog.getByLabel(/Type/).fill(`other-${address}`);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Users" })).toBeVisible();
  });
});

test("mails are listed, and failures of an address without an account are found", async ({
  page,
  server,
  account,
}) => {
  const unknown = `${newName()}@example.com`;
  const client = flowClient(server.url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: unknown });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: "a wrong password" });

  const base = await openConsole(page, server, account);
  await page.goto(`${base}/users?q=${unknown}`);
  await page.getByRole("button", { name: `Look for failed sign-ins of ${unknown}` }).click();
  await expect(
    page.getByRole("table", { name: "Failed sign-ins" }).getByText("This identifier"),
  ).not.toHaveCount(0);
  await expectAccessible(page);

  await page.getByRole("link", { name: "Mails and SMS" }).click();
  await page.getByLabel("Recipient").fill(account.address);
  await expect(page).toHaveURL(/recipient=/);
  const rows = page.getByRole("table", { name: "Mails and SMS" }).locator("tbody tr");
  await expect(rows.first()).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Recipient").fill(unknown);
  await expect(page.getByText("No messages")).toBeVisible();

  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Search or jump to…").fill(account.address.slice(0, 12));
  await page.getByRole("button", { name: new RegExp(account.address) }).click();
  await expect(page.getByRole("heading", { level: 1, name: account.address })).toBeVisible();
});

test("an auditor reads users and is offered no change", async ({ page, server, account, pageErrors }) => {
  pageErrors.expect(/status of 404/);
  const base = await openConsole(page, server, account, "auditor");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${base}/users?q=${account.address}`);
  await expect(page.getByRole("table", { name: "Users" }).getByText(account.address)).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Create a user" })).toHaveCount(0);
  await page.getByRole("link", { name: account.address }).click();
  await expect(page.getByRole("tab", { name: "Profile" })).toBeVisible();
  for (const name of ["Block", "Delete", "Save", "Add", "Send recovery mail"])
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  await expectAccessible(page);
  await page.goto(`${base}/users/${crypto.randomUUID()}`);
  await expect(page.getByText("There is no such user")).toBeVisible();
});
