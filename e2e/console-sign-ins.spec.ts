import type { Page } from "@playwright/test";
import { flowClient } from "../server/testing/flow-client.ts";
import { consoleSettings, expectAccessible, openConsole } from "./console.ts";
import { countDays } from "./counted-days.ts";
import { expect, test } from "./fixtures.ts";

test.use({ settings: consoleSettings });

const wrongPassword = "a wrong password, never shown";

const phone = { width: 390, height: 844 };

/** Fails to sign in over REST. */
async function failToSignIn(url: string, address: string): Promise<void> {
  const client = flowClient(url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: address });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: wrongPassword });
  expect(client.state.error?.code).toBe("form_data_invalid_error");
}

/** What is wider than the window scrolls by itself, and does not move the page. */
const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("a failed sign-in is found by its support number, and understood @next", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  const base = await openConsole(page, server, account, "operator");
  await failToSignIn(server.url, account.address);
  const rows = page.getByRole("table", { name: "Sign-ins" }).locator("tbody tr[tabindex]");

  await page.getByRole("link", { name: "Sign-ins" }).click();
  await page.getByRole("combobox", { name: "Outcome" }).click();
  await page.getByRole("option", { name: "Rejected" }).click();
  await expect(page).toHaveURL(/outcome=rejected/);
  await expect(async () => {
    await page.reload();
    await expect(rows).toHaveCount(1, { timeout: 2_000 });
  }).toPass();
  await expect(rows).toContainText("Login password");
  await expectAccessible(page);
  const number = await rows.getByRole("link").first().innerText();

  await page.goto(`${base}/sign-ins`);
  const field = page.getByRole("searchbox", { name: "Support number" });
  await field.fill("ABCD");
  await expect(page.getByText("Eight letters, as at the foot of the page")).toBeVisible();
  await field.fill(number.replace(" ", "").toLowerCase());
  await expect(rows).toHaveCount(1);
  await expect(page).toHaveURL(/number=[A-Z]{8}/);

  await page.goto(base);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: "Search or jump to…" }).fill(number);
  await page.getByRole("button", { name: `Open the sign-in ${number}` }).click();
  await page.waitForURL(/\/sign-ins\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(number);
  await expect(
    page.getByText(/“Password login” in “Login password” was rejected: “This password does not match/),
  ).toBeVisible();
  await expect(page.getByText("Not offered").last()).toBeVisible();
  await expect(page.getByText(/password \(string, length 29\)/)).toBeVisible();
  const nodes = page.locator(".react-flow__node");
  await expect(nodes.filter({ hasText: "1 step not performed" })).toHaveCount(1);
  const passed = await nodes.count();
  await expectAccessible(page);
  await page.getByRole("switch", { name: "Show the other ways" }).click({ force: true });
  await expect(page).toHaveURL(/ways=all/);
  await expect(async () => expect(await nodes.count()).toBeGreaterThan(passed)).toPass();
  expect(await page.content()).not.toContain(wrongPassword);
  await page.getByRole("button", { name: "Perform again" }).click();
  await expect(page).toHaveURL(/replay=recorded/);
  await expect(page.getByText(/^No difference in \d+ steps$/)).toBeVisible();
  await page.getByRole("combobox", { name: "Against" }).click();
  await page.getByRole("option", { name: "Changed settings" }).click();
  const changes = page.getByRole("textbox", { name: "Changes" });
  await changes.fill("[]");
  await page.getByRole("button", { name: "Perform again" }).click();
  await expect(page.getByText("This is not a JSON object")).toBeVisible();
  await changes.fill('{"password": {"enabled": false}}');
  await page.getByRole("button", { name: "Perform again" }).click();
  await expect(page.getByText(/^Differs first at step \d+$/)).toBeVisible();
  await expect(page.getByText("password.enabled: true before, false now")).toBeVisible();
  await expect(page.getByRole("table", { name: "Steps, as recorded and now" })).toContainText(
    "not performed",
  );
  await expectAccessible(page);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download bundle" }).click();
  expect((await downloading).suggestedFilename()).toBe("exportFlow.json");
  await page.reload();
  await expect(page.getByText(/^Differs first at step \d+$/)).toBeVisible();
  await page.setViewportSize(phone);
  await expect(nodes.first()).toBeVisible();
  await expect.poll(() => overflow(page)).toBe(0);

  await page.getByRole("link", { name: "Audit log of this time" }).click();
  await page.waitForURL(/audit-log\?from=/);
  await expect(page.getByRole("table").getByText("login_failure").first()).toBeVisible();

  pageErrors.expect(/status of 404/);
  await page.goto(`${base}/sign-ins/${crypto.randomUUID()}`);
  await expect(page.getByText("There is no such sign-in")).toBeVisible();
});

test("the overview marks an odd hour, and the funnel shows where users give up @next", async ({
  page,
  server,
  account,
  database,
}) => {
  const base = await openConsole(page, server, account, "operator");
  const tenant = base.split("/").at(-1) ?? "";
  if (!database) throw new Error("the server has the embedded database");
  await countDays(database, tenant);

  await page.goto(base);
  await expect(page.getByText(/: 80 failures, usually 8/)).toBeVisible();
  await expect(page.getByText(/: 12 sign-ins, usually 60/)).toBeVisible();
  await expect(page.getByRole("img", { name: "Sign-ins over time: By outcome" })).toBeVisible();
  await expect(page.getByRole("cell", { name: "Wrong password", exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.getByText("Sign-ins by method", { exact: true }).click();
  await page.getByText("The numbers as a table").click();
  await expect(page.getByRole("columnheader", { name: "Authenticator app" })).toBeVisible();
  await expect(page.getByText("(unlike other days)")).toHaveCount(1);
  await expectAccessible(page);
  await page.getByText("7 days", { exact: true }).click();
  await expect(page).toHaveURL(/range=7d/);
  await expect(page.getByText("By day")).toBeVisible();
  await page.getByText("By hour").click();
  await expect(page.getByText(/: 80 failures, usually 8/)).toBeVisible();
  await page.setViewportSize(phone);
  await expect.poll(() => overflow(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 900 });

  await page.getByRole("link", { name: "Funnel" }).click();
  const table = page.getByRole("table", { name: "States" });
  await expect(table.getByRole("row", { name: /Login password/ })).toContainText("%");
  await expect(page.locator(".react-flow__node").filter({ hasText: "gave up" }).first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "Compare with" }).click();
  await page.getByRole("option", { name: "7 days before" }).click();
  await expect(page.getByRole("heading", { name: "The earlier period" })).toBeVisible();
  await expect(table.getByText(/^before: /).first()).toBeVisible();
  await page.getByRole("combobox", { name: "System" }).click();
  await page.getByRole("option", { name: "Linux" }).click();
  await expect(page).toHaveURL(/platform=Linux/);
  await table.getByRole("button", { name: "Show Login password over time" }).press("Enter");
  const drawer = page.getByRole("dialog", { name: "Login password" });
  await expect(drawer.getByRole("img", { name: "Over time: Given up" })).toBeVisible();
  await expect(drawer.getByRole("cell", { name: "Wrong password", exact: true })).toBeVisible();
  await expect(page).toHaveURL(/state=login_password/);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(drawer).toHaveCount(0);
  await page.getByRole("combobox", { name: "Browser" }).click();
  await page.getByRole("option", { name: "Opera" }).click();
  await expect(page.getByText("Nothing was counted").first()).toBeVisible();
  await page.setViewportSize(phone);
  await expect.poll(() => overflow(page)).toBe(0);
});
