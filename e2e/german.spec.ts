import { expect, test } from "./fixtures.ts";

test.use({ locale: "de-DE" });

test("a German browser gets pages and mails in German", async ({ page, account, mailbox }) => {
  await page.goto("/");
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText("Anmelden");
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.getByLabel("E\u2011Mail", { exact: false }).fill(account.address);
  const asked = mailbox.messages.length;
  await page.getByRole("button", { name: "Weiter" }).click();
  await expect(title).toHaveText("Wie möchten Sie sich anmelden?");
  await page.getByRole("button", { name: /Code/ }).click();
  await expect(title).toHaveText("Sehen Sie in Ihr Postfach");
  const mail = await mailbox.waitFor(account.address, asked);
  expect(mail.subject).toMatch(/Anmelde/);
  await page.getByRole("textbox").click();
  await page.keyboard.type("000000");
  await expect(
    page.getByText("Das ist nicht der Code, den wir geschickt haben, oder er ist zu alt."),
  ).toBeVisible();
  await page.getByRole("textbox").click();
  await page.keyboard.type(await mailbox.codeFor(account.address, asked));
  await expect(title).toHaveText("Ohne Passwort anmelden");
  await page.getByRole("button", { name: "Jetzt nicht" }).click();
  await expect(title).toHaveText("Sie sind angemeldet");
});
