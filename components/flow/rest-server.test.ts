import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runtimeForTests } from "../../server/testing/open-for-tests.ts";
import { mailedCode, password, restRegistration } from "../../server/testing/rest-walk.ts";
import type { TestRuntime } from "../../server/testing/runtime.ts";
import { visitor } from "../../server/testing/visitor.ts";
import { codeChallengeOf, keptType, restServer } from "./rest-server.ts";
import { createFlowStore } from "./use-flow.ts";

const url = "https://login.example/t/one/";
const runtime = await runtimeForTests();

afterEach(() => vi.unstubAllGlobals());

/** A browser whose requests reach the service in this process, and their paths and headers. */
function browser(of: TestRuntime = runtime) {
  const own = visitor(of);
  const requests: { path: string; init: RequestInit }[] = [];
  /** What happens to the requests to come, oldest first; without an entry they go through. */
  const faults: ("not sent" | "answer lost" | Response)[] = [];
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    const path = address.replace("https://login.example/t/one", "");
    requests.push({ path, init });
    const fault = faults.shift();
    if (fault instanceof Response) return fault;
    if (fault === "not sent") throw new TypeError("Failed to fetch");
    const { method, headers, body } = init;
    const answer = await own.request(path, {
      ...(method ? { method } : {}),
      ...(headers ? { headers } : {}),
      ...(body ? { body } : {}),
    });
    if (fault === "answer lost") throw new TypeError("Failed to fetch");
    return answer;
  });
  return { requests, faults, visitor: own };
}

/** The storage of a tab. */
function tab() {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
  return { kept, storage };
}

/** A store over REST, in the first state of its flow. */
async function storeOver(
  server = restServer({ url, language: "de" }),
  type: "login" | "registration" = "login",
) {
  return createFlowStore(server, type, await server.start(type), async () => {});
}

const newAddress = () => `${randomUUID()}@example.com`;

async function account(): Promise<string> {
  const email = newAddress();
  await restRegistration(runtime, email);
  return email;
}

async function toPassword(store: Awaited<ReturnType<typeof storeOver>>, email: string): Promise<void> {
  await store.act("continue_with_login_identifier", { email });
  await store.act("continue_to_password_login", {});
}

test("a login by password ends with the cookie, and each answer has a higher version", async () => {
  const email = await account();
  const { visitor, requests } = browser();
  const server = restServer({ url, language: "de" });
  const store = await storeOver(server);
  const versions = [store.view().version];
  await toPassword(store, email);
  versions.push(store.view().version);
  expect(server.result()).toBeNull();
  await store.act("password_login", { password });
  versions.push(store.view().version);
  expect(store.view().state.name).toBe("success");
  expect(versions).toEqual([1, 3, 4]);
  expect(server.result()).toEqual({ kind: "cookie" });
  expect((await visitor.request("/me")).status).toBe(200);
  expect(requests.map(({ init }) => init.credentials)).toEqual(Array(4).fill("include"));
});

test("a mail is in the language of the component", async () => {
  browser();
  const email = newAddress();
  const store = await storeOver(undefined, "registration");
  await store.act("register_login_identifier", { email });
  expect(mailedCode(runtime, email)).toMatch(/^\d{6}$/);
  expect(runtime.enqueued.findLast(({ to }) => to === email)?.language).toBe("de");
});

test.each([
  ["closed", "false", true],
  ["open", "true", undefined],
])("the first state says whether registration is closed: %s", async (_, allowed, closed) => {
  browser(runtime.configured({ STILE_ACCOUNT_ALLOW_SIGNUP: allowed }));
  const store = await storeOver();
  expect(store.view().state.name).toBe("login_init");
  expect(store.view().state.payload.registration_closed).toBe(closed);
});

test("the account names the relying party, for signals to passkey managers", async () => {
  const email = await account();
  browser();
  const store = await storeOver();
  await toPassword(store, email);
  await store.act("password_login", { password });
  const server = restServer({ url, language: "en" });
  const { state } = await server.start("profile");
  expect(state.payload.relying_party_id).toBe(runtime.config.webauthn.relying_party.id);
});

test("the token of the session reaches the application where the tenant sends it", async () => {
  const email = await account();
  browser(runtime.configured({ STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" }));
  const server = restServer({ url, language: "en" });
  const store = await storeOver(server);
  await toPassword(store, email);
  await store.act("password_login", { password });
  expect(server.result()).toEqual({
    kind: "token",
    token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    lifetime: expect.any(Number),
    retention: "persistent",
  });
});

test("a code of success is the result, with the verifier that this page made", async () => {
  const { requests, faults } = browser();
  const server = restServer({ url, language: "en", codeChallenge: true });
  await server.start("login");
  const success = { name: "success", status: 200, actions: {}, csrf_token: "", links: null };
  faults.push(Response.json({ ...success, payload: { authorization_code: "c-1" } }));
  await server.act("login", "continue_with_login_identifier", 1, {});
  const result = server.result();
  expect(result).toEqual({ kind: "code", code: "c-1", codeVerifier: expect.stringMatching(/^[\w-]{43}$/) });
  const codeVerifier = result?.kind === "code" ? result.codeVerifier : undefined;
  expect(requests[0]?.path).toBe(`/login?code_challenge=${await codeChallengeOf(codeVerifier ?? "")}`);
});

// RFC 7636, appendix B
test("the challenge of a verifier is that of the standard", async () => {
  expect(await codeChallengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  );
});

describe("a lost connection", () => {
  test("before the step reached the service: the step is performed after it", async () => {
    const email = await account();
    const { faults, requests } = browser();
    const store = await storeOver();
    await toPassword(store, email);
    faults.push("not sent", "not sent", new Response("<h1>Bad gateway</h1>", { status: 502 }));
    await store.act("password_login", { password });
    expect(store.view()).toMatchObject({ state: { name: "success" }, performed: "password_login" });
    expect(requests.filter(({ path }) => path.includes("=password_login%40"))).toHaveLength(4);
  });

  test("A29 after the step reached the service: it is not performed twice, and a new flow starts", async () => {
    const { faults } = browser();
    const email = newAddress();
    const store = await storeOver(undefined, "registration");
    faults.push("answer lost");
    await store.act("register_login_identifier", { email });
    expect(store.view().state.name).toBe("registration_init");
    expect(runtime.enqueued.filter(({ to }) => to === email)).toHaveLength(1);
  });
});

test("an expired flow is replaced, and nothing typed is lost without a word", async () => {
  const { faults } = browser();
  const store = await storeOver();
  const expired = {
    name: "error",
    status: 410,
    payload: {},
    csrf_token: "",
    actions: {},
    links: null,
    error: { code: "flow_expired_error", message: "This flow has expired." },
  };
  faults.push(Response.json(expired, { status: 410 }), Response.json(expired, { status: 410 }));
  await store.act("continue_with_login_identifier", { email: "ada@example.com" });
  expect(store.view().state.error?.code).toBe("flow_expired_error");
  await store.restart();
  expect(store.view().state.name).toBe("login_init");
});

test("A28 a flow whose token another request has used is replaced", async () => {
  const { visitor } = browser();
  const store = await storeOver();
  const { state } = store.view();
  await visitor.post(state.actions.continue_with_login_identifier?.href ?? "", {
    csrf_token: state.csrf_token,
    input_data: { email: newAddress() },
  });
  await store.act("continue_with_login_identifier", { email: newAddress() });
  expect(store.view().state).toMatchObject({ name: "error", status: 403 });
  await store.restart();
  expect(store.view().state).toMatchObject({ name: "login_init", status: 200 });
});

test("too many starts are shown, with the time to wait, and the next start succeeds", async () => {
  const limited = runtime.configured({
    STILE_RATE_LIMITER_ENABLED: "true",
    STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1",
  });
  browser(limited);
  await storeOver();
  const store = await storeOver();
  expect(store.view().state).toMatchObject({ status: 429, payload: { retry_after: expect.any(Number) } });
  browser();
  await store.restart();
  expect(store.view().state.name).toBe("login_init");
});

test("options that a rejected passkey has used up are obtained again", async () => {
  browser();
  vi.stubGlobal("PublicKeyCredential", class {});
  const store = await storeOver();
  await store.act("webauthn_generate_request_options", {});
  const options = store.view().state.payload.request_options;
  expect(options).toBeDefined();
  await store.act("webauthn_verify_assertion_response", {
    assertion_response: {
      id: "AAAA",
      rawId: "AAAA",
      type: "public-key",
      clientExtensionResults: {},
      response: { clientDataJSON: "e30", authenticatorData: "AAAA", signature: "AAAA" },
    },
  });
  expect(store.view().state).toMatchObject({ name: "login_passkey", payload: {} });
  await store.renew();
  expect(store.view().state).toMatchObject({ name: "login_passkey", payload: { request_options: {} } });
  expect(store.view().state.error).toBeUndefined();
});

test("a flow that went to a provider goes on after the return, once, and no session is stored", async () => {
  const { faults } = browser();
  const { kept, storage } = tab();
  const server = restServer({ url, language: "en", storage });
  const started = await server.start("login");
  const action = { ...started.state.actions.continue_with_login_identifier, action: "exchange_token" };
  faults.push(
    Response.json({
      name: "thirdparty",
      status: 200,
      csrf_token: "t-1",
      links: null,
      payload: { redirect_url: "https://accounts.example/authorize" },
      actions: { exchange_token: action },
    }),
  );
  await server.act("login", "continue_with_login_identifier", 1, {});
  expect(keptType({ url, storage, returning: true })).toBe("login");
  const after = restServer({ url, language: "en", storage, returning: true });
  expect(await after.current("login")).toMatchObject({ version: 1, state: { name: "thirdparty" } });
  expect(kept.size).toBe(0);
  const again = restServer({ url, language: "en", storage, returning: true });
  expect(await again.current("login")).toMatchObject({ state: { name: "login_init" } });
});

describe("a reload of the page", () => {
  test("continues the flow in the state that was shown, and nothing is stored at its end", async () => {
    const email = await account();
    const { requests } = browser();
    const { kept, storage } = tab();
    const options = { url, language: "en", storage, asked: "login" } as const;
    const store = await storeOver(restServer(options));
    expect(kept.size).toBe(0);
    await store.act("continue_with_login_identifier", { email });
    await store.act("continue_to_password_login", {});
    await store.act("password_login", { password: "wrong but long" });

    expect(keptType(options)).toBe("login");
    const server = restServer(options);
    const reloaded = createFlowStore(server, "login", await server.current("login"), async () => {});
    expect(reloaded.view().state).toMatchObject({ name: "login_password", payload: { identifier: email } });
    expect([...kept.values()].join()).not.toContain("wrong but long");
    await reloaded.act("password_login", { password });
    expect(server.result()).toEqual({ kind: "cookie" });
    expect(kept.size).toBe(0);
    expect(requests.filter(({ path }) => path === "/login")).toHaveLength(1);
  });

  test("keeps the verifier of a challenge that the page made, and no flow of another challenge", async () => {
    const email = await account();
    browser();
    const { storage } = tab();
    const options = { url, language: "en", storage, asked: "login", codeChallenge: true } as const;
    await toPassword(await storeOver(restServer(options)), email);
    const server = restServer(options);
    const reloaded = createFlowStore(server, "login", await server.current("login"), async () => {});
    await reloaded.act("password_login", { password });
    expect(server.result()).toMatchObject({
      kind: "code",
      codeVerifier: expect.stringMatching(/^[\w-]{43}$/),
    });

    const another = await storeOver(restServer(options));
    await another.act("continue_with_login_identifier", { email });
    for (const other of [
      { codeChallenge: undefined },
      { asked: undefined },
      { asked: "registration" as const },
    ])
      expect(keptType({ ...options, ...other })).toBeNull();
    expect(keptType(options)).toBe("login");
  });

  test("starts again where the step was performed before its answer came", async () => {
    const email = await account();
    const { faults } = browser();
    const { kept, storage } = tab();
    const options = { url, language: "en", storage, asked: "login" } as const;
    const store = await storeOver(restServer(options));
    await toPassword(store, email);
    faults.push("answer lost");
    const before = restServer(options);
    await before.current("login");
    await before.act("login", "back", 1, {}).catch(() => {});
    const server = restServer(options);
    const reloaded = createFlowStore(server, "login", await server.current("login"), async () => {});
    await reloaded.act("password_login", { password });
    expect(reloaded.view().state.name).toBe("error");
    expect(kept.size).toBe(0);
  });

  test("does not show the secret of an authenticator app again", async () => {
    const { faults } = browser();
    const { kept, storage } = tab();
    const server = restServer({ url, language: "en", storage, asked: "login" });
    const { state } = await server.start("login");
    const descriptor = { ...state.actions.continue_with_login_identifier };
    const secret = { name: "mfa_otp_secret_creation", status: 200, csrf_token: "t-1", links: null };
    faults.push(
      Response.json({ ...secret, payload: { otp_secret: "JBSWY3DP" }, actions: { back: descriptor } }),
    );
    await server.act("login", "any", 1, {});
    expect(kept.size).toBe(0);
  });
});
