import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { freePort } from "../server/testing/server.ts";
import { test as base, expect } from "./fixtures.ts";

const { resolve } = createRequire(import.meta.url);
const library = resolve("@teamhanko/hanko-frontend-sdk").replace("sdk.cjs", "sdk.modern.js");
const html = "<!doctype html><title>App</title><link rel=icon href=data:,>";

// An unchanged published client of the protocol, in a page of an application on another origin.
const test = base.extend<object, { origin: string }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const application = createServer((request, response) => {
        const asksForLibrary = request.url === "/sdk.js";
        response.setHeader("content-type", asksForLibrary ? "text/javascript" : "text/html");
        response.end(asksForLibrary ? readFileSync(library) : html);
      });
      const port = await freePort();
      await new Promise<void>((listening) => application.listen(port, listening));
      await use(`http://localhost:${port}`);
      application.closeAllConnections();
      await new Promise((closed) => application.close(closed));
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ origin }, use) =>
      use({ STILE_CORS_ALLOW_ORIGINS: origin, STILE_WEBAUTHN_RELYING_PARTY_ORIGINS: origin }),
    { scope: "worker" },
  ],
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
      const { Hanko } = await import("/sdk.js" as string);
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
