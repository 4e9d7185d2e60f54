import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  openLogin,
} from "./steps.ts";

// A server of its own, because it is killed.
test.describe.configure({ mode: "serial" });
test.use({ embedded: true, settings: { STILE_SERVICE_NAME: "Stile, to be killed" } });

test("A113 a server that is killed midway continues the same sign-in", async ({
  page,
  server,
  account,
  mailbox,
  pageErrors,
}) => {
  pageErrors.expect(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const code = await mailbox.codeFor(account.address, asked);

  await server.kill("SIGKILL");
  await server.restart();
  await enterCode(page, code);
  await finishSignIn(page);
});

test("a step taken while the server is down is reported, and can be repeated after its restart", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  pageErrors.expect(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  await openLogin(page);
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  await server.kill("SIGKILL");
  await button(page, "Enter your password").click();
  await expect(page.getByText("We have lost the connection. Trying again…")).toBeVisible();
  await server.restart();
  await expect(page.getByText("We are connected again. Please repeat your last step.")).toBeVisible();
  await button(page, "Enter your password").click();
  await expectPage(page, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
});
