import type { Page } from "@playwright/test";
import { blockingCookies } from "./blocked-cookies.ts";
import { expect, test } from "./fixtures.ts";
import {
  button,
  choiceAnswer,
  codeField,
  emailField,
  enterAddress,
  expectPage,
  holdScripts,
} from "./steps.ts";

/** The first page before, while and after its scripts arrive. */

test.use({ settings: { STILE_SESSION_COOKIE_RETENTION: "prompt" } });

/** Where everything visible of the state stands. */
const places = (page: Page) =>
  page.locator(".stile-state :is(h1, p, input:not([type=hidden]), button)").evaluateAll((elements) =>
    elements
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [element.tagName, x, y, width, height].join(" ");
      }),
  );

const steps = (page: Page) => {
  const calls: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/trpc/")) calls.push(new URL(request.url()).pathname);
  });
  return calls;
};

test("the first answer alone draws the form as it stays, without a further request", async ({ page }) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(
    ({ pathname }) => pathname !== "/",
    async (route) => {
      await released;
      await route.continue();
    },
  );
  await page.goto("/", { waitUntil: "commit" });
  await expect(emailField(page)).toBeVisible();
  const look = () =>
    page.locator(".stile-card").evaluate((card) => {
      const { backgroundColor, borderRadius, boxShadow } = getComputedStyle(card);
      return {
        backgroundColor,
        borderRadius,
        boxShadow,
        moving: card.getAnimations({ subtree: true }).length,
      };
    });
  const drawn = await look();
  expect(drawn).toMatchObject({ borderRadius: "18px", moving: 0 });
  release();
  await expect(page.locator("form[data-action=continue_with_login_identifier]")).toHaveAttribute(
    "novalidate",
  );
  expect(await look()).toEqual(drawn);
});

test("what is typed before the scripts arrive stays, with the focus, and nothing moves", async ({
  page,
  account,
}) => {
  const release = await holdScripts(page);
  const calls = steps(page);
  await page.goto("/", { waitUntil: "commit" });
  await emailField(page).fill(account.address);
  await page.getByRole("checkbox").check();
  await emailField(page).focus();
  const before = await places(page);
  release();
  await expect(page.locator("form[data-action=continue_with_login_identifier]")).toHaveAttribute(
    "novalidate",
  );
  // The box that was ticked, and the flow for passkeys in the field.
  await expect(page.locator("form[data-action=remember_me] input[name=version]")).not.toHaveValue("0");
  await expect(emailField(page)).toHaveValue(account.address);
  await expect(emailField(page)).toBeFocused();
  await expect(page.getByRole("checkbox")).toBeChecked();
  expect(await places(page)).toEqual(before);
  await emailField(page).press("Enter");
  await expectPage(page, "methods");
  expect(calls).not.toContain("/api/trpc/flow.start");
});

test("a form that is sent before the scripts arrive needs none of them", async ({ page, account }) => {
  const release = await holdScripts(page);
  await page.goto("/", { waitUntil: "commit" });
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  release();
  await button(page, "Get a code by email").click();
  await expect(codeField(page)).toBeVisible();
});

test("a form that is sent twice before the scripts arrive leads on once", async ({ page, account }) => {
  const release = await holdScripts(page);
  await page.goto("/", { waitUntil: "commit" });
  await emailField(page).fill(account.address);
  await button(page, "Continue").dblclick();
  await expectPage(page, "methods");
  release();
  await button(page, "Get a code by email").click();
  await expect(codeField(page)).toBeVisible();
});

test("the choice to stay signed in is sent with the identifier, before the scripts arrive", async ({
  page,
  account,
}) => {
  const release = await holdScripts(page);
  await page.goto("/", { waitUntil: "commit" });
  await expect(button(page, "Apply")).toHaveCount(0);
  await page.getByRole("checkbox").check();
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  await button(page, "Back").click();
  await expectPage(page, "login");
  await expect(page.getByRole("checkbox")).toBeChecked();
  release();
});

test("two pages opened at once are one flow, and neither loses what was typed", async ({
  page,
  context,
  account,
}) => {
  const other = await context.newPage();
  const release = await holdScripts(page);
  await page.goto("/", { waitUntil: "commit" });
  await emailField(page).fill(account.address);
  await other.goto("/");
  const answer = choiceAnswer(other);
  await other.getByRole("checkbox").check();
  await answer;
  await button(page, "Continue").click();
  await expectPage(page, "methods");
  release();
});

test("after a connection that was lost in the first step, what was typed is sent again", async ({
  page,
  account,
  pageErrors,
}) => {
  pageErrors.expect(/flow\.act|Failed to (load|fetch)|ERR_/);
  await page.route("**/api/trpc/flow.act", (route) => route.abort("connectionfailed"));
  await page.goto("/");
  await emailField(page).fill(account.address);
  await expect(page.locator("form[data-action=continue_with_login_identifier]")).toHaveAttribute(
    "novalidate",
  );
  await button(page, "Continue").click();
  await expect(page.locator(".stile-alert")).toHaveText(/We are connected again/);
  await expect(emailField(page)).toHaveValue(account.address);
  await page.unroute("**/api/trpc/flow.act");
  await button(page, "Continue").click();
  await expectPage(page, "methods");
});

test("the back button leads to the flow, which goes on", async ({ page, account }) => {
  await page.goto("/?flow=registration");
  await page.goto("/");
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  await page.goBack();
  await expectPage(page, "registration");
  await page.goForward();
  await expectPage(page, "methods");
  await button(page, "Back").click();
  await expectPage(page, "login");
});

test("a browser that keeps no cookies is told so at once, and again after a step", async ({ server }) => {
  await blockingCookies(test.info(), `${server.url},*`, async (context) => {
    const page = await context.newPage();
    await page.goto(server.url);
    const words = page.getByText("Your browser keeps no cookies for this page");
    await expect(words).toBeVisible();
    await enterAddress(page, "ada@example.com");
    await button(page, /Enter your password/).click();
    await expect(words).toBeVisible();
  });
});
