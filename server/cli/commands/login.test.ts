import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { decodeJwt } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { authenticatorApp, startStile } from "../../testing/kit/index.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { type PseudoTerminal, pseudoTerminal } from "../../testing/pseudo-terminal.ts";
import { runStile } from "../../testing/stile.ts";

const password = "seven herons over the lake";
const program = join(import.meta.dirname, "..", "stile.ts");

let terminal: PseudoTerminal | undefined;
const stile = await openForTests(
  startStile({
    provider: true,
    settings: { mfa: { acquire_on_registration: true, device_trust_policy: "never" } },
  }),
);

afterEach(() => {
  terminal?.kill();
  terminal = undefined;
});

const environment = () => ({ PATH: process.env.PATH ?? "", NODE_ENV: "test" as const, LANG: "C" });

function open(...words: string[]): PseudoTerminal {
  const call = [process.execPath, program, "login", "--url", stile.url, ...words];
  terminal = pseudoTerminal(call, environment());
  return terminal;
}

const piped = (input: string, ...words: string[]) =>
  runStile(["login", "--url", stile.url, ...words], { cwd: import.meta.dirname, env: environment(), input });

/** Chooses the menu line with this label. */
async function choose(at: PseudoTerminal, label: string): Promise<void> {
  await at.shows("Your choice");
  const lines = [...at.output().matchAll(/^ {2}(\d+) {2}(.*?)\r?$/gm)];
  const number = lines.findLast(([, , text = ""]) => text.startsWith(label))?.[1];
  at.type(`${number ?? label}\r`);
}

async function identify(at: PseudoTerminal, email: string): Promise<void> {
  await at.shows("Email");
  at.type(`${email}\r`);
}

describe("in a terminal", () => {
  test("a password is masked, a wrong one is said, and the session ends unless its token is printed", async () => {
    const user = await stile.user({ password });
    const at = open();
    await identify(at, user.email);
    await choose(at, "Enter your password");
    await at.shows("Password");
    at.type("wrong password\r");
    // Keys that are typed before it asks again are the terminal's to show.
    await at.shows(/This password does not match[\s\S]*Password \(empty/);
    at.type(`x\u007f${password}\r`);
    await at.shows("You are signed in");
    expect(await at.ended()).toBe(0);
    expect(at.output()).not.toContain(password);
    expect(at.output()).toContain("*".repeat(password.length));
    expect(at.output()).toMatch(new RegExp(`sub +${user.id}`));
    const account = await stile.startAt("profile_init", { user });
    const { sessions } = account.state.payload as { sessions: { id: string }[] };
    expect(sessions).toHaveLength(1);
  });

  test("a mailed code signs in, and the printed token is that of a live session", async () => {
    const user = await stile.user();
    const at = open("--print-token");
    await identify(at, user.email);
    await choose(at, "Get a code by email");
    await at.shows(user.email);
    await at.shows("Code");
    at.type("000000\r");
    await at.shows("This is not the code we sent");
    at.type(`${await stile.mailbox.code(user.email)}\r`);
    expect(await at.ended()).toBe(0);
    const token = /^([\w-]+\.[\w-]+\.[\w-]+)\r?$/m.exec(at.output())?.[1] ?? "";
    expect(decodeJwt(token).sub).toBe(user.id);
    const answer = await fetch(`${stile.url}/sessions/validate`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await answer.json()).toMatchObject({ is_valid: true, user_id: user.id });
  });

  test("a registration sets up an app by a QR code in text", async () => {
    const at = open("--flow", "registration");
    await at.shows("Create your account");
    await identify(at, "app@example.com");
    await at.shows("Code");
    at.type(`${await stile.mailbox.code("app@example.com")}\r`);
    await at.shows("New password");
    at.type(`${password}\r`);
    await choose(at, "An authenticator app");
    await at.shows("Key: ");
    await at.shows(/[█▀▄]{20}/);
    await at.shows("Code");
    const secret = /Key: ([A-Z2-7 ]+)/.exec(at.output())?.[1]?.replaceAll(" ", "") ?? "";
    at.type(`${authenticatorApp(secret).code((await stile.clock.now()).getTime())}\r`);
    expect(await at.ended()).toBe(0);
    expect(at.output()).toContain("You are signed in");
  });

  test("an expired flow starts again", async () => {
    const user = await stile.user({ password });
    const at = open();
    await at.shows("Email");
    await stile.clock.advance({ days: 1 });
    at.type(`${user.email}\r`);
    await at.shows("You were away for a while");
    await choose(at, "Start again");
    await identify(at, user.email);
    await at.shows("How would you like to sign in?");
    expect(at.output()).toContain("Your choice");
  });

  test("a provider needs the browser that began, so the address of the page is named", async () => {
    const at = open();
    await at.shows("Email");
    at.type("\r");
    await choose(at, "Continue with Fake provider");
    await at.shows(`Open this address in a browser, and sign in there:\r\n  ${stile.url}/`);
    await choose(at, "Continue");
    await at.shows("Email");
    expect(at.output()).not.toContain("did not work");
  });

  test("Ctrl-C at a masked question ends the dialogue, and the terminal echoes again", async () => {
    const user = await stile.user({ password });
    const call = [process.execPath, program, "login", "--url", stile.url];
    const then = '"$@"; code=$?; stty -a; exit $code';
    const at = pseudoTerminal(["sh", "-c", then, "sh", ...call], environment());
    terminal = at;
    await identify(at, user.email);
    await choose(at, "Enter your password");
    await at.shows("Password");
    at.type("seven her\u0003");
    expect(await at.ended()).toBe(1);
    expect(at.output()).toContain("stile: interrupted");
    expect(at.output()).not.toContain("seven her");
    expect(at.output().split(/[\s;]+/)).toEqual(expect.arrayContaining(["echo", "icanon", "isig"]));
  });

  test("a lost connection is tried again", async () => {
    let [answers, calls] = [true, 0];
    const proxy = createServer(async (request, response) => {
      calls += 1;
      if (!answers) return void request.socket.destroy();
      const answer = await fetch(stile.url + request.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: await text(request),
      });
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = proxy.address() as AddressInfo;
      const user = await stile.user({ password });
      const call = [process.execPath, program, "login", "--url", `http://127.0.0.1:${port}`];
      const at = pseudoTerminal(call, environment());
      terminal = at;
      await at.shows("Email");
      answers = false;
      at.type(`${user.email}\r`);
      await at.shows("We cannot reach the service");
      answers = true;
      await choose(at, "Try again");
      await at.shows("How would you like to sign in?");
      expect(calls).toBeGreaterThan(2);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

describe("from a pipe", () => {
  test("lines are the answers, and the token is the only output", async () => {
    const user = await stile.user({ password });
    const { code, out, err } = await piped(
      `${user.email}\n1\n${password}\n`,
      "--print-token",
      "--language",
      "de",
    );
    expect({ code, err: err.includes("Anmelden") }).toEqual({ code: 0, err: true });
    expect(decodeJwt(out.trim()).sub).toBe(user.id);
    expect(out.trim().split("\n")).toHaveLength(1);
  });

  test("a server that does not answer, or is none, is named", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const nowhere = await runStile(["login", "--url", url], { cwd: import.meta.dirname, env: environment() });
    expect(nowhere).toMatchObject({ code: 1, err: `stile: ${url} does not answer: ECONNREFUSED\n` });
    const page = await runStile(["login", "--url", `${stile.url}/.well-known`], {
      cwd: import.meta.dirname,
      env: environment(),
    });
    expect(page).toMatchObject({
      code: 1,
      err: expect.stringContaining("is it the address of a Stile server?"),
    });
  });

  test("an input that ends too early fails", async () => {
    expect(await piped("ada@example.com\n")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("stile: the input ended before the sign-in did"),
    });
  });

  test("a program goes through the states by lines of JSON", async () => {
    const user = await stile.user({ password });
    const steps = [
      { action: "register_client_capabilities", input: { webauthn_available: false } },
      { action: "continue_with_login_identifier", input: { email: user.email } },
      { action: "continue_to_password_login" },
      { action: "password_login", input: { password } },
    ];
    const { code, out } = await piped(steps.map((step) => JSON.stringify(step)).join("\n"), "--json");
    expect(code).toBe(0);
    const states = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(states.map(({ name }) => name).slice(0, 2)).toEqual(["preflight", "login_init"]);
    expect(states.at(-1)).toMatchObject({ name: "success", claims: { sub: user.id } });
    expect(out).not.toContain("csrf_token");
    expect(states.at(-1).token).toBeUndefined();
    expect(await piped('{"action": "fly"}', "--json")).toMatchObject({
      code: 1,
      err: expect.stringContaining("preflight offers register_client_capabilities"),
    });
    expect(await piped("fly", "--json")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not JSON"),
    });
  });
});

test.each([
  [["--url", "login.example.com"], 1, "is not an address"],
  [["--url", "http://login.example.com"], 1, "passwords are sent over https only"],
  [["--url", "https://a:b@login.example.com"], 1, "has no user"],
  [["--url", "http://localhost", "--flow", "profile"], 2, "is not a flow that signs in"],
  [["--url", "http://localhost", "--language", "tlh"], 2, "is not a language"],
  [[], 2, "--url is missing"],
])("rejects %j", async (words, code, reason) => {
  const result = await runStile(["login", ...words], { cwd: import.meta.dirname, env: environment() });
  expect(result).toMatchObject({ code, out: "", err: expect.stringContaining(reason) });
});
