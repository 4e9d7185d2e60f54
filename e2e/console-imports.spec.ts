import { openidApplication, registeredBrowser } from "../server/testing/openid-application.ts";
import { expectAccessible, inDialog, openConsole } from "./console.ts";
import { adminCall, fileOfUsers, filledSettings } from "./console-data.ts";
import { expect, test } from "./fixtures.ts";

/** Users that come in from a file, and the applications that have access to accounts. */

test.use({ settings: filledSettings, contextOptions: { reducedMotion: "reduce" } });

const newNames = () => {
  const prefix = `p${crypto.randomUUID().slice(0, 8)}`;
  return Array.from({ length: 3 }, (_, index) => `${prefix}.${index}`);
};

const fileOf = (text: string) => ({
  name: "users.jsonl",
  mimeType: "application/jsonl",
  buffer: Buffer.from(text),
});

test("an operator imports users, and ends what applications may do with an account @next", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  // The connection is lost once.
  pageErrors.expect(/ERR_FAILED|ERR_INTERNET_DISCONNECTED|Failed to load resource/);
  const home = await openConsole(page, server, account, "operator");
  const names = newNames();

  await test.step("a file is sent, cut off, sent again and checked", async () => {
    await page.goto(`${home}/imports`);
    await expect(page.getByText("No imports yet")).toBeVisible();
    await expectAccessible(page);
    // Its input belongs to the button, which the keyboard reaches.
    // The key would be faster than the browser is told to hand over its chooser.
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a file" }).focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(fileOf(""));
    await expect(page.getByText("The file is empty.")).toBeVisible();
    const lost = "**/api/console/trpc/putImportPiece**";
    await page.route(lost, (route) => route.abort());
    const again = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a file" }).click();
    await (await again).setFiles(fileOf(fileOfUsers(names)));
    await expect(page.getByText("The upload was cut off. What has arrived stays.")).toBeVisible();
    await expectAccessible(page);
    await page.unroute(lost);
    await page.getByRole("button", { name: "Go on" }).click();
    await expect(page).toHaveURL(/imports\/[0-9a-f-]{36}$/);
    await expect(page.getByRole("button", { name: "Import 3 users" })).toBeVisible();
    const refused = page.getByRole("table", { name: "Refused records" }).locator("tbody tr");
    await expect(refused).toHaveCount(3);
    await expect(refused.last()).toContainText("not JSON");
    await expectAccessible(page);
  });

  await test.step("it is imported after a reload, and its refused records are downloaded", async () => {
    await page.reload();
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the refused" }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await downloaded).createReadStream()) chunks.push(chunk as Buffer);
    const records = Buffer.concat(chunks).toString().trim().split("\n");
    expect(records.map((line) => JSON.parse(line).record)).toEqual([4, 5, 6]);
    await page.getByRole("button", { name: "Import 3 users" }).click();
    await expectAccessible(page);
    await inDialog(page, "Import 3 users").click();
    await expect(page.getByText("Imported", { exact: true }).first()).toBeVisible();
    await expect(page.getByRole("button", { name: "Cancel import" })).toHaveCount(0);
    await page.goto(`${home}/users?q=${names[0]?.slice(0, 9)}`);
    await expect(page.getByRole("table", { name: "Users" }).locator("tbody tr[tabindex]")).toHaveCount(3);
  });

  await test.step("another is dropped, and cancelled", async () => {
    await page.goto(`${home}/imports`);
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "users.jsonl"));
      return data;
    }, fileOfUsers(newNames()));
    await page
      .getByText("Drop a file of users here, or choose one")
      .dispatchEvent("drop", { dataTransfer: dropped });
    await expect(page.getByRole("button", { name: "Import 3 users" })).toBeVisible();
    await page.getByRole("button", { name: "Cancel import" }).click();
    await inDialog(page, "Cancel import").click();
    await expect(page.getByText("The import is cancelled.")).toBeVisible();
    await page.getByRole("link", { name: "Moving in" }).first().click();
    await expect(page.getByRole("table", { name: "Imports" }).locator("tbody tr[tabindex]")).toHaveCount(2);
    await expectAccessible(page);
  });

  const email = `${names[0]}.shopper@example.com`;
  await test.step("an application has access to an account, until an operator ends it", async () => {
    const shop = await openidApplication(server.url, { clientId: "shop" });
    await shop.signIn(await registeredBrowser(server, email));
    await page.goto(`${home}/applications/shop?tab=users`);
    await page.getByRole("link", { name: email }).click();
    await expect(page).toHaveURL(/tab=applications/);
    const row = page.getByRole("row").filter({ hasText: "The corner shop" });
    await expect(row).toContainText("1 access");
    await expectAccessible(page);
    await row.getByRole("button", { name: "End access The corner shop" }).click();
    await expectAccessible(page);
    await inDialog(page, "End access").click();
    await expect(page.getByText("No application has access")).toBeVisible();
    await page.goto(`${home}/applications/shop?tab=users`);
    await expect(page.getByText("No user", { exact: true })).toBeVisible();
    await page.getByRole("tab", { name: "Logouts" }).click();
    await expect(page.getByRole("heading", { name: "Deliveries" })).toBeVisible();
    await expectAccessible(page);
    await page.goto(`${home}/applications`);
    await expect(page.getByText("No application has described itself")).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("an address is marked as verified", async () => {
    const call = await adminCall(server);
    const [user] = (await call("GET", `/users?email=${email}`)) as unknown as { id: string }[];
    await call("POST", `/users/${user?.id}/emails`, { address: `other.${email}` });
    await page.goto(`${home}/users/${user?.id}`);
    await page.getByRole("button", { name: `Mark as verified other.${email}` }).click();
    await inDialog(page, "Mark as verified").click();
    await expect(page.getByText("The address is verified.")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Mark as verified other/ })).toHaveCount(0);
  });
});
