import { freePort } from "../server/testing/free-port.ts";
import { type Application, startApplication } from "./application.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  declinePasskey,
  enterAddress,
  enterPassword,
  expectPage,
  finishSignIn,
  openLogin,
} from "./steps.ts";

const test = base.extend<
  { sameHostApplication: Application; otherHostApplication: Application },
  { ports: [number, number] }
>({
  ports: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => use([await freePort(), await freePort()]),
    { scope: "worker" },
  ],
  settings: [
    async ({ ports: [sameHostPort, otherHostPort] }, use) =>
      use({
        STILE_HOSTED_ALLOWED_REDIRECT_URLS: `http://localhost:${sameHostPort}/,http://127.0.0.1:${otherHostPort}/**`,
      }),
    { scope: "worker" },
  ],
  /** An application on Stile's own host, which shares its cookie. */
  sameHostApplication: async ({ ports: [port], server }, use) => {
    const application = await startApplication({ port, host: "localhost", stile: server.url });
    await use(application);
    await application.close();
  },
  /** An application on another host. */
  otherHostApplication: async ({ ports: [, port], server }, use) => {
    const application = await startApplication({ port, host: "127.0.0.1", stile: server.url });
    await use(application);
    await application.close();
  },
});

test("an application on the same host receives the visitor signed in by the cookie", async ({
  page,
  account,
  sameHostApplication,
}) => {
  await page.goto(sameHostApplication.url);
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${sameHostApplication.url}/`);
  await expect(page.getByRole("heading")).toHaveText(/^Welcome, [0-9a-f-]{36}$/);
});

test("an application on another host receives a one-time code, and redeems it once", async ({
  page,
  account,
  otherHostApplication,
}) => {
  await page.goto(`${otherHostApplication.url}/sign-in`);
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(/\/callback\?/);
  await expect(page.getByRole("heading")).toHaveText(/^Welcome, [0-9a-f-]{36}$/);
  await expect(page.getByText(/^A second time: 4\d\d$/)).toBeVisible();
});

test("the redirect after success survives a reload in the middle", async ({
  page,
  account,
  sameHostApplication,
}) => {
  await page.goto(sameHostApplication.url);
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await page.reload();
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${sameHostApplication.url}/`);
  await expect(page.getByRole("heading")).toHaveText(/^Welcome/);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the redirect to the application is a link", async ({ page, account, otherHostApplication }) => {
    await page.goto(`${otherHostApplication.url}/sign-in`);
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.getByRole("link", { name: /127\.0\.0\.1/ }).click();
    await page.waitForURL(/\/callback\?/);
    await expect(page.getByRole("heading")).toHaveText(/^Welcome, [0-9a-f-]{36}$/);
  });
});

for (const [target, why] of [
  ["https://evil.example/", "that is not on the list"],
  ["//evil.example/", "without a scheme"],
  ["javascript:alert(1)", "that is a script"],
  ["http://localhost@evil.example/", "that hides its host"],
] as const) {
  test(`A46 a redirect address ${why} is rejected before the sign-in`, async ({
    page,
    context,
    pageErrors,
  }) => {
    pageErrors.expect(/status of 400/);
    const answer = await page.goto(`/login?redirect_to=${encodeURIComponent(target)}`);
    expect(answer?.status()).toBe(400);
    expect(await answer?.text()).toContain("redirect_to");
    expect(await context.cookies()).toEqual([]);
  });
}

test("without a redirect address, success stays on the page", async ({ page, account, server }) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
  expect(new URL(page.url()).origin).toBe(server.url);
});
