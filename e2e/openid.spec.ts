import { codesOf } from "./codes.ts";
import { expect } from "./fixtures.ts";
import { device, test } from "./openid-application.ts";
import {
  button,
  chooseMethod,
  codeField,
  declinePasskey,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  passwordField,
} from "./steps.ts";

test("a visitor signs in once for two applications @next", async ({ page, account, shop, forum }) => {
  await page.goto(shop.url);
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  await page.goto(forum.url);
  await page.waitForURL(`${forum.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
});

test("a visitor chooses an account of the browser by the keyboard @next", async ({
  page,
  account,
  shop,
  office,
}) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.goto(office.url);
  await expectPage(page, "accountChoice");
  await expect(button(page, "Use another account")).toBeVisible();
  await button(page, account.address).press("Enter");
  await page.waitForURL(`${office.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
});

test("a visitor who is signed out finds the account masked, and removes it from the browser", async ({
  page,
  account,
  shop,
  office,
  server,
}) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.request.post(`${server.url}/logout`, { headers: { origin: server.url } });
  await page.goto(office.url);
  await expectPage(page, "accountChoice");
  const masked = new RegExp(`^${account.address[0]}•••.*@`);
  await expect(button(page, masked)).toHaveCount(1);
  await expect(page.getByText(account.address)).toHaveCount(0);
  await page.getByText("Remove an account from this browser").click();
  await button(page, masked).last().click();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await page.waitForURL(`${office.url}/callback?*`);
});

test("an application that asks for it has its visitors sign in again", async ({
  page,
  account,
  shop,
  careful,
}) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.goto(careful.url);
  await expectPage(page, "login");
  // The browser bears a mark of the account, so that its method is suggested.
  await enterAddress(page, account.address);
  await passwordField(page).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${careful.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
});

test("a user allows an application what it asks for, by the keyboard alone, and is not asked again @next", async ({
  page,
  account,
  reader,
}) => {
  await page.goto(reader.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "consent");
  await expect(page.getByRole("listitem").first()).toHaveText("know that it is you");
  await expect(page.getByText(account.address)).toBeVisible();
  await expect(page.getByText("The library reader", { exact: true })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(button(page, /^Allow/)).toBeFocused();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${reader.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  await page.goto(reader.url);
  await page.waitForURL(`${reader.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
});

test("a user is asked for a scope of the operator's own in the operator's words, which the account page has too @next", async ({
  page,
  account,
  club,
}) => {
  await page.goto(club.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "consent");
  await expect(page.locator(".stile-authorization").getByRole("listitem")).toHaveText([
    "know that it is you",
    "see your email address",
    "see which teams you are in",
  ]);
  await button(page, /^Allow/).click();
  await page.waitForURL(`${club.url}/callback?*`);
  await page.goto("/account");
  await expect(page.getByText(/see which teams you are in/)).toBeVisible();
});

test("an application that asks for several factors has its user set up a second one, in one redirect @next", async ({
  page,
  account,
  shop,
  bank,
}) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.goto(bank.url);
  await enterAddress(page, account.address);
  await passwordField(page).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expectPage(page, "secondStep");
  await expect(button(page, "Not now")).toHaveCount(0);
  await button(page, /An authenticator app/).click();
  await expectPage(page, "setUpApp");
  const codes = codesOf((await page.locator(".stile-secret code").textContent()) ?? "");
  await enterCode(page, await codes.next());
  await button(page, "Not now").click();
  await button(page, "I have saved them").click();
  await page.waitForURL(`${bank.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  await page.goto(bank.url);
  await page.waitForURL(`${bank.url}/callback?*`);
});

test("a user is told that an application which has registered itself is not verified, and is asked each time @next", async ({
  page,
  account,
  agent,
}) => {
  await page.goto(agent.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  for (let time = 0; time < 2; time += 1) {
    await expectPage(page, "consent");
    await expect(
      page.getByText("This application has registered itself. It has not been verified."),
    ).toBeVisible();
    await expect(page.getByText(/Then you go on to an application on this device\./)).toBeVisible();
    await button(page, /^Allow/).click();
    await page.waitForURL(`${agent.url}/callback?*`);
    await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
    await page.goto(agent.url);
  }
});

test("a user who denies goes back to the application, which is told so; a reload asks the same again", async ({
  page,
  account,
  shop,
  reader,
}) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.goto(reader.url);
  await expectPage(page, "consent");
  await page.reload();
  await expectPage(page, "consent");
  await button(page, "Do not allow").click();
  await page.waitForURL(`${reader.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText("Not signed in: access_denied");
  await page.goto(reader.url);
  await expectPage(page, "consent");
});

test("a user whose session ends while an application asks signs in again, and is asked again @next", async ({
  page,
  context,
  account,
  reader,
}) => {
  await page.goto(reader.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "consent");
  await context.clearCookies({ name: "service" });
  await button(page, /^Allow/).click();
  await page.getByRole("link", { name: "Sign in" }).click();
  await enterAddress(page, account.address);
  await passwordField(page).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expectPage(page, "consent");
  await button(page, /^Allow/).click();
  await page.waitForURL(`${reader.url}/callback?*`);
  await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
});

test("an application is told that its user has signed out @next", async ({ page, account, shop }) => {
  await page.goto(shop.url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${shop.url}/callback?*`);
  await page.goto("/account");
  await button(page, "Sign out").first().click();
  await expectPage(page, "login");
  await expect.poll(() => shop.signedOut, { timeout: 15_000 }).toEqual([expect.stringMatching(/./)]);
});

test("a user signs in a device by its code, by the keyboard alone @next", async ({
  page,
  account,
  server,
}) => {
  const { codes, tokens } = await device(server.url);
  await page.goto(codes.verification_uri);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "deviceCode");
  await expect(codeField(page)).toBeFocused();
  await page.keyboard.type("BCDF-GHJK");
  await page.keyboard.press("Enter");
  await expect(page.getByText("This code is wrong, has expired, or was used.")).toBeVisible();
  await codeField(page).fill("");
  await page.keyboard.type(codes.user_code.toLowerCase());
  await page.keyboard.press("Enter");
  await expectPage(page, "deviceConsent");
  await expect(page.getByText(codes.user_code)).toBeVisible();
  await expect(page.getByText("Shop on TV", { exact: true })).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expectPage(page, "consentAnswered");
  await expect(page.getByText("Go on at the device. You can close this page.")).toBeVisible();
  expect((await tokens()).claims()?.sub).toEqual(expect.any(String));
});

test("the second press of a double click is not taken by the state that the first one has led to", async ({
  page,
  account,
  server,
}) => {
  const { codes, tokens } = await device(server.url);
  await page.goto(codes.verification_uri_complete ?? "");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "deviceCode");
  // Whether a press at the place of the button would reach it: when the state appears, and when it has settled.
  await page.evaluate(() => {
    const reached: boolean[] = [];
    Object.assign(window, { reached });
    const look = () => {
      const button = document.querySelector('[data-state="consent"] [data-action="consent_allow"] button');
      if (!button) return;
      const { x, y, width, height } = button.getBoundingClientRect();
      reached.push(button.contains(document.elementFromPoint(x + width / 2, y + height / 2)));
    };
    const observer = new MutationObserver(() => {
      look();
      if (reached.length > 0) observer.disconnect();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener("animationend", ({ animationName }) => {
      if (animationName === "stile-settle") look();
    });
  });
  await button(page, "Continue").click();
  await expectPage(page, "deviceConsent");
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { reached: boolean[] }).reached))
    .toEqual([false, true]);
  await button(page, /^Allow/).click();
  await expectPage(page, "consentAnswered");
  expect((await tokens()).claims()?.sub).toEqual(expect.any(String));
});

test("a user who follows the address of a device finds its code in the field, and can say no", async ({
  page,
  account,
  server,
}) => {
  const { codes, tokens } = await device(server.url);
  await page.goto(codes.verification_uri_complete ?? "");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expectPage(page, "deviceCode");
  await expect(codeField(page)).toHaveValue(codes.user_code);
  await button(page, "Continue").click();
  await button(page, "Do not allow").click();
  await expectPage(page, "consentAnswered");
  await expect(tokens()).rejects.toMatchObject({ error: "access_denied" });
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("a visitor signs in by forms, and goes on to the application by a link", async ({
    page,
    account,
    shop,
  }) => {
    await page.goto(shop.url);
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.getByRole("link", { name: /localhost/ }).click();
    await page.waitForURL(`${shop.url}/callback?*`);
    await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  });

  test("a user allows an application by a form", async ({ page, account, shop, reader }) => {
    await page.goto(shop.url);
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.goto(reader.url);
    await expectPage(page, "consent");
    await button(page, /^Allow/).click();
    await expectPage(page, "consentAnswered");
    await page.getByRole("link", { name: /localhost/ }).click();
    await page.waitForURL(`${reader.url}/callback?*`);
    await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  });

  test("a user chooses an account by a form", async ({ page, account, shop, office }) => {
    await page.goto(shop.url);
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.goto(office.url);
    await expectPage(page, "accountChoice");
    await button(page, account.address).click();
    await expectPage(page, "consentAnswered");
    await page.getByRole("link", { name: /localhost/ }).click();
    await page.waitForURL(`${office.url}/callback?*`);
    await expect(page.getByRole("heading")).toHaveText(`Welcome, ${account.address}`);
  });

  test("a user signs in a device by forms", async ({ page, account, server }) => {
    const { codes, tokens } = await device(server.url);
    await page.goto(codes.verification_uri_complete ?? "");
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.getByRole("link", { name: /localhost/ }).click();
    await expectPage(page, "deviceCode");
    await button(page, "Continue").click();
    await expectPage(page, "deviceConsent");
    await button(page, /^Allow/).click();
    await expectPage(page, "consentAnswered");
    expect((await tokens()).claims()?.sub).toEqual(expect.any(String));
  });
});

test("an address that is not the client's is refused on a page, and nothing is sent there", async ({
  page,
  server,
  pageErrors,
}) => {
  pageErrors.expect(/400/);
  const asked = new URLSearchParams({
    client_id: "shop",
    response_type: "code",
    scope: "openid",
    redirect_uri: "https://evil.example/callback",
  });
  const answer = await page.goto(`${server.url}/oauth/authorize?${asked}`);
  expect(answer?.status()).toBe(400);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(page.url()).toContain("/oauth/authorize");
});
