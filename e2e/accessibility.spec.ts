import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { codesOf } from "./codes.ts";
import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  newPasswordField,
  opener,
  openLogin,
} from "./steps.ts";

/** Visits every page, and calls `check` on each. */
async function visitEveryPage(
  page: Page,
  check: (name: string) => Promise<void>,
  {
    account,
    address,
    mailbox,
  }: { account: { address: string; password: string }; address: string; mailbox: Mailbox },
): Promise<void> {
  const newAddress = `new-${address}`;
  await openLogin(page);
  await check("login");
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  await check("methods");
  await button(page, "Enter your password").click();
  await expectPage(page, "password");
  await check("password");
  await enterPassword(page, "not the password at all");
  await expect(page.getByText("This password does not match.")).toBeVisible();
  await check("password, rejected");
  await button(page, "Back").click();
  await expectPage(page, "methods");

  await page.goto("/?flow=registration");
  await expectPage(page, "registration");
  await check("registration");
  const asked = Date.now() - 1;
  await enterAddress(page, newAddress);
  await expectPage(page, "code");
  await check("code");
  await enterCode(page, await mailbox.codeFor(newAddress, asked));
  await expectPage(page, "setPassword");
  await check("set password");
  await newPasswordField(page).fill("seven herons over the lake");
  await button(page, "Save password").click();
  await expectPage(page, "createPasskey");
  await check("create passkey");
  await button(page, "Not now").click();
  await expectPage(page, "secondStep");
  await check("second step");
  await button(page, /An authenticator app/).click();
  await expectPage(page, "setUpApp");
  await check("set up app");
  const codes = codesOf((await page.locator(".stile-secret code").textContent()) ?? "");
  await enterCode(page, await codes.next());
  await expectPage(page, "success");
  await check("success, with recovery codes");
  await button(page, "I have saved them").click();
  await check("success");
  await page.getByRole("link", { name: "Go to your account" }).click();
  await expectPage(page, "account");
  await check("account");
  for (const summary of await page.locator("summary").all()) await summary.click();
  await check("account, opened");
  await page.context().clearCookies();

  await openLogin(page);
  await chooseMethod(page, newAddress, "password");
  await enterPassword(page, "seven herons over the lake");
  await expectPage(page, "appCode");
  await opener(page, "Use a recovery code").click();
  await check("code of the app");
}

interface Mailbox {
  codeFor(to: string, after?: number): Promise<string>;
}

for (const scheme of ["light", "dark"] as const) {
  test(`assistive software can read every page, with a ${scheme} background`, async ({
    page,
    account,
    address,
    mailbox,
    authenticator,
  }) => {
    await authenticator.willWait();
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const failures: string[] = [];
    const check = async (name: string) => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      failures.push(
        ...violations.map(
          ({ id, help, nodes }) => `${name}: ${id}, ${help}: ${nodes.map((node) => node.html).join(" ")}`,
        ),
      );
    };
    await visitEveryPage(page, check, { account, address, mailbox });
    expect(failures).toEqual([]);
  });
}

for (const [name, viewport] of [
  ["a small phone", { width: 320, height: 568 }],
  ["a phone in landscape orientation", { width: 667, height: 320 }],
] as const) {
  test(`every page fits on ${name}`, async ({ page, account, address, mailbox, authenticator }) => {
    await authenticator.willWait();
    await page.setViewportSize(viewport);
    const failures: string[] = [];
    const check = async (what: string) => {
      const { overflow, small } = await page.evaluate(() => ({
        overflow: document.documentElement.scrollWidth - window.innerWidth,
        // WCAG 2.2, 2.5.8: targets of at least 24 by 24 pixels; and iOS zooms into fields of less than 16.
        small: [...document.querySelectorAll<HTMLElement>("button, input:not([type=hidden])")]
          .filter((element) => element.checkVisibility())
          .filter((element) => {
            const { width, height } = element.getBoundingClientRect();
            const zooms = element.matches("input[type=text], input[type=email], input[type=password]");
            return (
              width < 16 ||
              height < 16 ||
              (zooms && Number.parseFloat(getComputedStyle(element).fontSize) < 16)
            );
          })
          .map((element) => element.outerHTML),
      }));
      if (overflow > 0) failures.push(`${what}: ${overflow} pixels too wide`);
      failures.push(...small.map((html) => `${what}: too small: ${html}`));
    };
    await visitEveryPage(page, check, { account, address, mailbox });
    expect(failures).toEqual([]);
  });
}

test("text of twice the size still fits", async ({ page, account, authenticator }) => {
  await authenticator.willWait();
  await page.setViewportSize({ width: 640, height: 900 });
  await page.addInitScript(() => {
    document.addEventListener("DOMContentLoaded", () =>
      document.documentElement.style.setProperty("font-size", "200%"),
    );
  });
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});

for (const [scheme, width] of [
  ["light", 390],
  ["dark", 1280],
] as const)
  test(`assistive software can read the page of the interface, ${width} pixels wide, with a ${scheme} background`, async ({
    page,
    server,
  }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${server.url}/docs/api`);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, help, nodes }) => `${id}, ${help}: ${nodes.map(({ html }) => html).join(" ")}`),
    ).toEqual([]);
  });
