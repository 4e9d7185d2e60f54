import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { type Account, signUp } from "./account.ts";
import { openClientPages, settingsFor } from "./client-pages.ts";
import { test as base, expect } from "./fixtures.ts";

const require = createRequire(import.meta.url);
const library = require.resolve("@teamhanko/hanko-frontend-sdk").replace("sdk.cjs", "sdk.modern.js");
const html = "<!doctype html><title>App</title><link rel=icon href=data:,>";

// An unchanged published client of the protocol, in a page of an application on another origin.
const test = base.extend<object, { origin: string }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const pages = await openClientPages({ library, html });
      await use(pages.origin);
      await pages.close();
    },
    { scope: "worker" },
  ],
  settings: [async ({ origin }, use) => use(settingsFor(origin)), { scope: "worker" }],
});

test("the published client library walks a sign-in, reads the session and ends it", async ({
  page,
  origin,
  server,
  account,
}) => {
  await page.goto(origin);
  const walked = await page.evaluate(
    async ({ api, email, password }) => {
      const { Hanko } = await import("/library.js" as string);
      const hanko = new Hanko(api);
      const names: string[] = [];
      let state = await hanko.createState("login");
      names.push(state.name);
      state = await state.actions.continue_with_login_identifier.run({ email });
      names.push(state.name);
      state = await state.actions.continue_to_password_login.run();
      names.push(state.name);
      state = await state.actions.password_login.run({ password });
      names.push(state.name);
      const skipped = state.actions.skip.enabled ? await state.actions.skip.run() : state;
      names.push(skipped.name);
      const valid = (await hanko.validateSession()).is_valid;
      await hanko.logout();
      return { names, valid, after: (await hanko.validateSession()).is_valid };
    },
    { api: server.url, email: account.address, password: account.password },
  );
  expect(walked).toEqual({
    names: ["login_init", "login_method_chooser", "login_password", "onboarding_create_passkey", "success"],
    valid: true,
    after: false,
  });
});

/** A flow to start, an action with its input, or the end of the session. */
type ClientStep = { start: "login" | "profile" } | { act: string; input?: object } | { logOut: true };

/** Lets the published client library perform steps, and returns the states that it ends in, with their errors. */
function walk(page: Page, api: string, steps: ClientStep[]): Promise<string[]> {
  return page.evaluate(
    async ({ api, steps }) => {
      const { Hanko } = await import("/library.js" as string);
      const hanko = new Hanko(api);
      const ends: string[] = [];
      let state: Awaited<ReturnType<typeof hanko.createState>>;
      for (const step of steps) {
        if ("logOut" in step) await hanko.logout();
        else {
          state = await ("start" in step
            ? hanko.createState(step.start)
            : state.actions[step.act].run(step.input));
          ends.push(state.error ? `${state.name} ${state.error.code}` : state.name);
        }
      }
      return ends;
    },
    { api, steps },
  );
}

const passwordLogin = ({ address, password }: Account): ClientStep[] => [
  { start: "login" },
  { act: "continue_with_login_identifier", input: { email: address } },
  { act: "continue_to_password_login" },
  { act: "password_login", input: { password } },
];

/** Counts the requests of a page that perform an action. */
function countOf(page: Page, action: string): () => number {
  let count = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes(`action=${action}%40`)) count += 1;
  });
  return () => count;
}

test("the published client library sends a deleted passkey once, and shows that it was rejected", async ({
  page,
  origin,
  server,
  mailbox,
  address,
  authenticator,
  pageErrors,
}) => {
  pageErrors.expect(/status of 401/);
  const account = await signUp(server.url, mailbox, address, { passkey: true, origin });
  await authenticator.take(account.authenticator);
  await authenticator.willConfirm();
  const assertions = countOf(page, "webauthn_verify_assertion_response");
  await page.goto(origin);
  const passkey_id = account.authenticator.credentials[0]?.id.toString("base64url");
  const ends = await walk(page, server.url, [
    ...passwordLogin(account),
    { start: "profile" },
    { act: "webauthn_credential_delete", input: { passkey_id } },
    { logOut: true },
    { start: "login" },
    { act: "webauthn_generate_request_options" },
  ]);
  expect(ends.slice(-3)).toEqual(["profile_init", "login_init", "login_init passkey_invalid"]);
  expect(assertions()).toBe(1);
});

test("the published client library sends a rejected attestation once, and goes back with an error", async ({
  page,
  origin,
  server,
  account,
  authenticator,
  pageErrors,
}) => {
  pageErrors.expect(/status of 401/);
  await authenticator.willConfirm();
  const attestations = countOf(page, "webauthn_verify_attestation_response");
  await page.route(/action=webauthn_verify_attestation_response/, async (route) => {
    const body = route.request().postDataJSON();
    body.input_data.public_key.response.attestationObject = "AAAA";
    await route.continue({ postData: JSON.stringify(body) });
  });
  await page.goto(origin);
  const ends = await walk(page, server.url, [
    ...passwordLogin(account),
    { act: "webauthn_generate_creation_options" },
    { act: "skip" },
    { start: "profile" },
    { act: "webauthn_credential_create" },
  ]);
  expect(ends.slice(-4)).toEqual([
    // The library's own code for every failure.
    "onboarding_create_passkey webauthn_credential_already_exists",
    "success",
    "profile_init",
    "profile_init webauthn_credential_already_exists",
  ]);
  expect(attestations()).toBe(2);
});
