import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "@playwright/test";
import config from "../playwright.config.ts";
import { startServer } from "../server/testing/server.ts";
import { startSmtp } from "../server/testing/smtp.ts";
import { setSessionCookie, signUp } from "./account.ts";
import { chooseMethod, expectPage, openLogin, row } from "./steps.ts";

/** `npm run pictures`: takes the README's screenshots of the running program. */
const folder = join(import.meta.dirname, "../docs/pictures");

interface Picture {
  file: string;
  viewport: { width: number; height: number };
  scheme: "light" | "dark";
  mobile: boolean;
  show(page: Page): Promise<void>;
}

const mailbox = await startSmtp();
const server = await startServer({ env: { SMTP_URL: mailbox.url } });
const account = await signUp(server.url, mailbox, "ada@example.com", { passkey: true });

const desktop = { viewport: { width: 1100, height: 720 }, mobile: false };
const phone = { viewport: { width: 390, height: 844 }, mobile: true };

const pictures: Picture[] = [
  { file: "login-light.png", ...desktop, scheme: "light", show: openLogin },
  { file: "login-dark.png", ...desktop, scheme: "dark", show: openLogin },
  { file: "login-phone-dark.png", ...phone, scheme: "dark", show: openLogin },
  {
    file: "code-phone-light.png",
    ...phone,
    scheme: "light",
    async show(page) {
      await openLogin(page);
      await chooseMethod(page, "user@example.com", "code");
    },
  },
  { file: "account-light.png", ...desktop, scheme: "light", show: openAccount },
  {
    file: "second-step-phone-dark.png",
    ...phone,
    scheme: "dark",
    async show(page) {
      await openAccount(page);
      await row(page, "Authenticator app").getByRole("button", { name: "Set up" }).click();
      await expectPage(page, "setUpApp");
    },
  },
];

async function openAccount(page: Page): Promise<void> {
  await setSessionCookie(page.context(), server.url, account);
  await page.goto("/account");
  await expectPage(page, "account");
}

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch(config.use?.launchOptions ?? {});
try {
  for (const { file, viewport, scheme, mobile, show } of pictures) {
    const context = await browser.newContext({
      baseURL: server.url,
      locale: "en-GB",
      viewport,
      colorScheme: scheme,
      reducedMotion: "reduce",
      deviceScaleFactor: 2,
      isMobile: mobile,
      hasTouch: mobile,
    });
    const page = await context.newPage();
    await show(page);
    await page.screenshot({ path: join(folder, file), animations: "disabled", caret: "hide" });
    process.stdout.write(`docs/pictures/${file}\n`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  await mailbox.close();
}
