import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { type FlowClient, flowClient, type State } from "../../testing/flow-client.ts";
import { type PseudoTerminal, pseudoTerminal } from "../../testing/pseudo-terminal.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { runStile } from "../../testing/stile.ts";

/** `stile login --client`, with a server and the browser of a user. */

const program = join(import.meta.dirname, "..", "stile.ts");
const environment = { PATH: process.env.PATH ?? "", NODE_ENV: "test" as const, LANG: "C" };

let server: RunningServer;
let terminal: PseudoTerminal | undefined;
let browser: FlowClient;

beforeAll(async () => {
  const scopes = ["openid", "email"];
  server = await startServer({
    env: {
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_DEVICE_FLOW: "true",
      STILE_OPENID_CLIENTS: JSON.stringify({
        cli: { name: "The tool", grants: ["device_code", "refresh_token"], scopes },
        page: { name: "A page", redirect_uris: ["https://app.example.com/callback"] },
      }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
    },
  });
  browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email: "ada@example.com" });
  await browser.act("register_password", { new_password: "seven herons over the lake" });
  expect(browser.state.name).toBe("success");
});
afterAll(() => server.stop());
afterEach(() => {
  terminal?.kill();
  terminal = undefined;
});

function open(...words: string[]): PseudoTerminal {
  const call = [process.execPath, program, "login", "--url", server.url, "--client", "cli", ...words];
  terminal = pseudoTerminal(call, environment);
  return terminal;
}

const run = (...words: string[]) =>
  runStile(["login", "--url", server.url, ...words], { cwd: import.meta.dirname, env: environment });

/** Enters the code that the terminal shows, and answers. */
async function answer(at: PseudoTerminal, action: string): Promise<void> {
  await at.shows(`Open ${server.url}/device in a browser and enter this code:`);
  const [code = ""] = /[B-Z]{4}-[B-Z]{4}/.exec(at.output()) ?? [];
  const state = (await (await browser.request("/consent", { method: "POST" })).json()) as State;
  browser.adopt(state);
  await browser.act("device_code_verify", { user_code: code });
  expect((await browser.act(action)).state.name).toBe("consent_answered");
}

test("a terminal is signed in by the code that it shows, with a picture of the address", async () => {
  const at = open("--scope", "openid email");
  await answer(at, "consent_allow");
  expect(await at.ended()).toBe(0);
  expect(at.output()).toMatch(/[▀▄█]{8}/);
  expect(at.output()).toMatch(/aud +cli/);
  expect(at.output()).toMatch(/sub +[0-9a-f-]{36}/);
});

test("the access token is printed alone, and works", async () => {
  const at = open("--scope", "openid email", "--print-token");
  await answer(at, "consent_allow");
  expect(await at.ended()).toBe(0);
  const token = at.output().trim().split(/\s+/).at(-1) ?? "";
  const user = await fetch(`${server.url}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  expect(await user.json()).toMatchObject({ email: "ada@example.com" });
});

test("a denial is said, and the exit code is 1", async () => {
  const at = open();
  await answer(at, "consent_deny");
  expect(await at.ended()).toBe(1);
  expect(at.output()).toContain("refuses the sign-in: access_denied: the user has denied the request");
});

test("A260 a terminal that is told to slow down waits longer before it asks again", async () => {
  const errors: string[] = [];
  // Asks twice for the first request of the terminal, and hands it the second answer.
  const between = createServer(async (request, response) => {
    const body = await text(request);
    const ask = async () => {
      const posted = { method: "POST", body: new URLSearchParams(body) };
      const answer = await fetch(`${server.url}${request.url}`, request.method === "POST" ? posted : {});
      return (await answer.json()) as Record<string, string>;
    };
    let answer = await ask();
    if (request.url === "/oauth/token") {
      if (errors.length === 0) answer = await ask();
      errors.push(answer.error ?? "none");
    }
    response.writeHead(200, { "content-type": "application/json" });
    // The terminal finds every address here.
    response.end(JSON.stringify(answer).replaceAll(`${server.url}/oauth/`, `${address}/oauth/`));
  });
  onTestFinished(() => {
    between.closeAllConnections();
    between.close();
  });
  await new Promise<void>((listening) => between.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const call = [process.execPath, program, "login", "--url", address, "--client", "cli"];
  terminal = pseudoTerminal(call, environment);
  // The server has doubled the pause: a terminal that did not would be told again.
  await eventually(() => expect(errors).toEqual(["slow_down", "authorization_pending"]));
});

test("what cannot sign in as a device is said in one line", async () => {
  const page = await run("--client", "page");
  expect(page).toMatchObject({ code: 1, err: expect.stringMatching(/refuses the sign-in: \w+/) });
  const unknown = await run("--client", "unknown\u001b[31m");
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("invalid_client") });
  expect(await run("--scope", "openid")).toMatchObject({ code: 2 });
  const elsewhere = ["login", "--url", "http://127.0.0.1:9", "--client", "cli"];
  const silent = await runStile(elsewhere, { cwd: import.meta.dirname, env: environment });
  expect(silent).toMatchObject({ code: 1, err: expect.stringContaining("does not answer") });
});
