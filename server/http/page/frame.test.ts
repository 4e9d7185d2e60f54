import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { parseFrame } from "./frame.ts";
import type { PageAnswer } from "./page-answer.ts";
import { pageState } from "./page-state.ts";

const runtime = await runtimeForTests({
  STILE_EMBED_ORIGINS: "https://app.example.com,http://localhost:4000",
});

afterEach(() => vi.useRealTimers());

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const codeChallenge = codeChallengeOf(verifier);
const origin = "https://app.example.com";
const newAddress = () => `${randomUUID()}@example.com`;

const queryOf = (page: Record<string, string>) => new URLSearchParams(page).toString();
const ofApp = queryOf({ origin, code_challenge: codeChallenge });

/** The calls of a frame, or of its window. */
function frameOf(browser: Visitor, frame = ofApp) {
  const call = async (procedure: string, input: object): Promise<PageAnswer> => {
    const response = await browser.mutate(`flow.${procedure}`, input, { "x-stile-frame": frame });
    return (await response.json()).result.data;
  };
  return {
    act: (version: number, action: string, input = {}) =>
      call("act", { type: "login", version, action, input }),
    current: () => call("current", { type: "login" }),
    move: async () => String(await call("move", { type: "login" })),
    goOn: (token: string) => call("continue", { type: "login", token }),
  };
}

async function newAccount(): Promise<string> {
  const email = newAddress();
  await restRegistration(runtime, email);
  return email;
}

/** Signs in to the step before the last. */
async function beginSignIn(frame: ReturnType<typeof frameOf>, email: string): Promise<PageAnswer> {
  const started = await frame.act(0, "register_client_capabilities");
  const chosen = await frame.act(started.version, "continue_with_login_identifier", { email });
  return frame.act(chosen.version, "continue_to_password_login");
}

const redeem = (code: unknown) => visitor(runtime).post("/token", { code, code_verifier: verifier });

describe("the frame of a listed page", () => {
  test("signs in with a partitioned cookie of its own, and ends with a code and without a session", async () => {
    const browser = visitor(runtime);
    const frame = frameOf(browser);
    const before = await beginSignIn(frame, await newAccount());
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^stile-frame-login-[0-9a-f-]+=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=None; Partitioned$/,
      ),
    ]);
    const { state, redirect_to } = await frame.act(before.version, "password_login", { password });
    expect(state).toMatchObject({ name: "success", payload: { authorization_code: expect.any(String) } });
    expect(redirect_to).toBeUndefined();
    expect(browser.cookies.has("service")).toBe(false);
    expect((await redeem(state.payload.authorization_code)).status).toBe(200);
  });

  test("replaces the code of a lost answer, until it is redeemed", async () => {
    const frame = frameOf(visitor(runtime));
    const before = await beginSignIn(frame, await newAccount());
    const { state } = await frame.act(before.version, "password_login", { password });
    const again = await frame.current();
    expect(again.state.name).toBe("success");
    expect(again.state.payload.authorization_code).not.toBe(state.payload.authorization_code);
    expect((await redeem(state.payload.authorization_code)).status).toBe(400);
    expect((await redeem(again.state.payload.authorization_code)).status).toBe(200);
    expect((await frame.current()).state).toMatchObject({ name: "error", status: 403 });
  });

  test("asks for another sign-in after a reload, and shows no success without a code", async () => {
    const browser = visitor(runtime);
    const frame = frameOf(browser);
    const before = await beginSignIn(frame, await newAccount());
    const { state } = await frame.act(before.version, "password_login", { password });
    await redeem(state.payload.authorization_code);
    const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const shown = await pageState(runtime, runtime.tenant, cookies, "login", { origin, codeChallenge });
    expect(shown).toMatchObject({ version: 0 });
    expect(shown.state.name).not.toBe("success");
    const begun = await frame.act(0, "register_client_capabilities");
    expect(begun).toMatchObject({ version: expect.any(Number), state: { status: 200, name: "login_init" } });
    expect(begun.version).toBeGreaterThan(0);
  });

  test("remembers in the flow which page it is in", async () => {
    const browser = visitor(runtime);
    const email = newAddress();
    const frame = frameOf(browser);
    const { version } = await frame.act(0, "register_client_capabilities");
    await frame.act(version, "continue_with_login_identifier", { email });
    const flows = await runtime.database.read.select().from(schema.flows);
    const own = flows.filter(({ data }) => JSON.stringify(data).includes(email));
    expect(own).toMatchObject([{ data: { frameOrigin: origin, codeChallenge } }]);
  });

  test("sets the session cookie where the page receives it", async () => {
    const browser = visitor(runtime);
    const frame = frameOf(browser, queryOf({ origin: "http://localhost:4000" }));
    const before = await beginSignIn(frame, await newAccount());
    const { state } = await frame.act(before.version, "password_login", { password });
    expect(state.payload).not.toHaveProperty("authorization_code");
    expect(browser.cookies.has("service")).toBe(true);
  });

  test("does not show the flow of another page, another sign-in, or our own page", async () => {
    const browser = visitor(runtime);
    const { version } = await beginSignIn(frameOf(browser), newAddress());
    const others = [
      queryOf({ origin: "http://localhost:4000", code_challenge: codeChallenge }),
      queryOf({ origin, code_challenge: codeChallengeOf("x".repeat(43)) }),
    ];
    for (const other of others) expect((await frameOf(browser, other).current()).version).toBe(0);
    const page = await browser.mutate("flow.current", { type: "login" });
    expect((await page.json()).result.data.version).toBe(0);
    expect((await frameOf(browser).current()).version).toBeGreaterThanOrEqual(version);
  });
});

describe("A100 a call for a frame is refused", () => {
  test.each([
    [
      "of a page that is not listed",
      queryOf({ origin: "https://evil.example", code_challenge: codeChallenge }),
    ],
    ["of a longer name", queryOf({ origin: `${origin}.evil.example`, code_challenge: codeChallenge })],
    ["without an origin", queryOf({ code_challenge: codeChallenge })],
    ["with two origins", `${ofApp}&origin=${encodeURIComponent("http://localhost:4000")}`],
    ["without a challenge, of a page that does not receive the cookie", queryOf({ origin })],
    ["with a malformed challenge", queryOf({ origin, code_challenge: "short" })],
    ["without anything", ""],
  ])("%s", async (_, frame) => {
    const browser = visitor(runtime);
    const response = await browser.mutate(
      "flow.act",
      { type: "login", version: 0, action: "register_client_capabilities", input: {} },
      { "x-stile-frame": frame },
    );
    expect(response.status).toBe(403);
    expect(browser.cookies.size).toBe(0);
    expect(parseFrame(new URLSearchParams(frame), runtime.config).ok).toBe(false);
  });

  test("for every page by default", () => {
    const config = runtime.configured({ STILE_EMBED_ORIGINS: "" }).config;
    expect(parseFrame(new URLSearchParams(ofApp), config)).toEqual({ ok: false, reason: "origin" });
  });
});

test.each([
  "https://*",
  "https://*.example.com",
  "https://app.example.com;report-uri",
  'https://app".example.com',
  "https://app.example.com,b",
])("A100 %s is no origin of a page: a policy would take it for more", (entry) => {
  const listed = { STILE_EMBED_ORIGINS: JSON.stringify([entry]) };
  expect(() => runtime.configured(listed)).toThrow("without patterns");
});

test.each([
  "https://my_app.example",
  "https://[2001:db8::1]:8443",
  "https://xn--bcher-kva.example",
  "http://localhost:4000",
])("%s can be listed", (entry) => {
  const { config } = runtime.configured({ STILE_EMBED_ORIGINS: JSON.stringify([entry]) });
  expect(config.embed.origins).toEqual([entry]);
});

describe("a flow that moves to a window", () => {
  test("goes on there, and comes back", async () => {
    const [inFrame, inWindow] = [frameOf(visitor(runtime)), frameOf(visitor(runtime))];
    const email = await newAccount();
    const before = await beginSignIn(inFrame, email);
    const shown = await inWindow.goOn(await inFrame.move());
    expect(shown.state.name).toBe("login_password");
    const stepped = await inWindow.act(shown.version, "back");
    const back = await inFrame.goOn(await inWindow.move());
    expect(back.state.name).toBe(stepped.state.name);
    expect(back.version).toBeGreaterThan(before.version);
    const asked = await inFrame.act(back.version, "continue_to_passcode_confirmation");
    const { state } = await inFrame.act(asked.version, "verify_passcode", {
      code: mailedCode(runtime, email),
    });
    expect(state.status).toBe(200);
  });

  test("A103 can be opened once", async () => {
    const inFrame = frameOf(visitor(runtime));
    await beginSignIn(inFrame, newAddress());
    const token = await inFrame.move();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => frameOf(visitor(runtime)).goOn(token)),
    );
    expect(answers.filter(({ state }) => state.name === "login_password")).toHaveLength(1);
    expect((await frameOf(visitor(runtime)).goOn(token)).state).toMatchObject({ name: "error", status: 403 });
  });

  test("A103 is refused for another page, if it was altered, and later", async () => {
    const browser = visitor(runtime);
    const inFrame = frameOf(browser);
    await beginSignIn(inFrame, newAddress());
    const token = await inFrame.move();
    const other = queryOf({ origin: "http://localhost:4000", code_challenge: codeChallenge });
    const refused = [
      await frameOf(visitor(runtime), other).goOn(token),
      await frameOf(visitor(runtime)).goOn(token.replace(/.{6}~2$/, "AAAAAA~2")),
      await frameOf(visitor(runtime)).goOn("Fe26.2*1*x"),
    ];
    expect(refused.map(({ state }) => state.status)).toEqual([403, 403, 403]);
    const page = await visitor(runtime).mutate("flow.continue", { type: "login", token });
    expect((await page.json()).result.data.state.status).toBe(403);
    // The seal allows clocks to differ by a minute.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
    expect((await inFrame.goOn(token)).state.status).toBe(403);
    vi.useRealTimers();
    expect((await inFrame.goOn(token)).state.status).toBe(200);
  });

  test("is none of our own page", async () => {
    const browser = visitor(runtime);
    await browser.mutate("flow.start", { type: "login" });
    const moved = await browser.mutate("flow.move", { type: "login" });
    expect((await moved.json()).result.data).toBeNull();
  });
});

test("a redeemed move leaves no token in the database", async () => {
  const inFrame = frameOf(visitor(runtime));
  await beginSignIn(inFrame, newAddress());
  const token = await inFrame.move();
  await frameOf(visitor(runtime)).goOn(token);
  const rows = await runtime.database.read
    .select()
    .from(schema.seenAssertions)
    .where(eq(schema.seenAssertions.tenantId, runtime.tenant.id));
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(token);
});

test.each([
  ["/embed.js", "publickey-credentials-get; publickey-credentials-create", 2_500],
  ["/embed-sign-in.js", "immediate", 4_500],
])(
  "GET %s answers pages of every origin with a part of the loader, of few bytes",
  async (path, part, bytes) => {
    const response = await visitor(runtime).request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const script = await response.text();
    expect(script).toContain(part);
    expect(gzipSync(script).length).toBeLessThan(bytes);
  },
);

test("the loader names the digest of the part that it loads, so that a page pins both", async () => {
  const text = async (path: string) => (await visitor(runtime).request(path)).text();
  const digest = createHash("sha384")
    .update(await text("/embed-sign-in.js"))
    .digest("base64");
  expect(await text("/embed.js")).toContain(`sha384-${digest}`);
});
