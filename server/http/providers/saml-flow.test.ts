import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { mailedCode, type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import { startSamlProvider } from "../../testing/saml-provider-server.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { providerNetwork } from "../../thirdparty/provider-fetch.ts";

/** SAML sign-ins from the first request to the session. */

const provider = samlIdentityProvider();
const sp = { consumerUrl: "http://localhost:3000/saml/callback", audience: "http://localhost:3000" };

const settings = (more: object = {}, ...others: object[]) => ({
  STILE_PASSKEY_ENABLED: "false",
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    {
      name: "example",
      domains: ["example.org"],
      metadata: provider.metadata,
      allow_idp_initiated: true,
      ...more,
    },
    ...others,
  ]),
});

let runtime: TestRuntime;
let trusting: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime(settings());
  trusting = runtime.configured(settings({ skip_email_verification: true }));
});

afterAll(() => runtime.close());

/** A new user of the provider. */
function person(): Pick<Answer, "nameId" | "attributes"> & { email: string } {
  const name = crypto.randomUUID();
  const email = `${name}@example.org`;
  return { email, nameId: name, attributes: { email, displayName: "Ada" } };
}

/** What the person's browser posts, and the token that it is sent on with. */
async function bring(who: Visitor, answer: Partial<Answer>, relayState?: string): Promise<string> {
  const SAMLResponse = await provider.answer({ ...sp, ...answer });
  const response = await who.request("/saml/callback", {
    method: "POST",
    body: new URLSearchParams({ SAMLResponse, ...(relayState ? { RelayState: relayState } : {}) }),
  });
  const location = new URL(response.headers.get("location") ?? "");
  const token = location.searchParams.get("hanko_token");
  if (!token) throw new Error(`${location.searchParams.get("error")}`);
  return token;
}

/** Names themselves in a flow, goes to the provider, and is back with a token. */
async function viaProvider(at: TestRuntime, type: "login" | "registration", who = person()) {
  const walk = await restWalk(at, type);
  await walk.act("register_client_capabilities");
  await (type === "login"
    ? walk.act("continue_with_login_identifier", { email: who.email })
    : walk.act("register_login_identifier", { email: who.email }));
  expect(walk.state.name).toBe("thirdparty");
  const request = provider.read(String(walk.state.payload.redirect_url));
  const { nameId, attributes } = who;
  const token = await bring(
    walk.visitor,
    { nameId, attributes, inResponseTo: request.id },
    request.relayState,
  );
  return { walk, who, token, request };
}

/** Begins with a token that the provider's own visitor brings. */
async function byItself(
  at: TestRuntime,
  who = person(),
): Promise<{ walk: RestWalk; token: string; who: typeof who }> {
  const browser = visitor(at);
  const token = await bring(browser, { nameId: who.nameId, attributes: who.attributes });
  return { walk: await restWalk(at, "token_exchange", browser), token, who };
}

const codes = (state: FlowState) => [
  state.error?.code,
  ...Object.values(state.actions).flatMap(({ inputs }) =>
    Object.values(inputs ?? {}).flatMap(({ error }) => (error ? [error.code] : [])),
  ),
];

describe.each(["login", "registration"] as const)("in a %s flow", (type) => {
  test("an address in the provider's domain leads there, and back to a session", async () => {
    const { walk, token, who } = await viaProvider(trusting, type);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    const me = await (await walk.visitor.request("/me")).json();
    expect(me).toMatchObject({ name: "Ada", emails: [{ address: who.email, is_verified: true }] });
    expect(walk.state.payload).toMatchObject({ claims: { amr: [`ext:${provider.entityId}`] } });
  });

  test("A43 an address that the provider is not trusted for is proved first", async () => {
    const { walk, token, who } = await viaProvider(runtime, type);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("passcode_confirmation");
    await walk.act("verify_passcode", { code: mailedCode(runtime, who.email) });
    expect(walk.state.name).toBe("success");
  });

  test("a token that is none changes nothing, and the journey can be given up", async () => {
    const { walk, request } = await viaProvider(trusting, type);
    expect(request.relayState).not.toBe("");
    await walk.act("exchange_token", { token: "x" });
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 400 });
    await walk.act("back");
    expect(walk.state.name).toBe(`${type}_init`);
  });

  test("a provider that cannot be asked is a refusal of the address, and the flow goes on", async () => {
    const far = { name: "far", domains: ["far.example"], metadata_url: "https://far.example/metadata" };
    const at = runtime.configured(settings({}, far));
    providerNetwork(at).fetch = () => Promise.reject(new TypeError("fetch failed"));
    const walk = await restWalk(at, type);
    await walk.act("register_client_capabilities");
    const [action = ""] = Object.keys(walk.state.actions).filter((name) => name.endsWith("_identifier"));
    await walk.act(action, { email: "ada@far.example" });
    expect(walk.state).toMatchObject({ name: `${type}_init`, status: 400 });
    expect(codes(walk.state)).toEqual(["form_data_invalid_error", "value_invalid_error"]);
    await walk.act(action, { email: "ada@example.org" });
    expect(walk.state.name).toBe("thirdparty");
  });
});

test("an address outside the provider's domains does not lead there", async () => {
  const walk = await restWalk(runtime, "login");
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email: "ada@example.com" });
  expect(walk.state.name).toBe("login_method_chooser");
});

test("a provider may be known by the address of its metadata alone", async () => {
  const near = await startSamlProvider({ nameId: "u-2", attributes: { mail: "ada@near.example" } });
  try {
    const { metadataUrl } = near;
    const settled = {
      name: "near",
      domains: ["near.example"],
      metadata_url: metadataUrl,
      skip_email_verification: true,
    };
    const at = runtime.configured(settings({}, settled));
    const walk = await restWalk(at, "login");
    await walk.act("register_client_capabilities");
    await walk.act("continue_with_login_identifier", { email: "ada@near.example" });
    // What the person's browser does there.
    const page = await (await fetch(String(walk.state.payload.redirect_url))).text();
    const fields = [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    const response = await walk.visitor.request("/saml/callback", {
      method: "POST",
      body: new URLSearchParams(fields),
    });
    const token = new URL(response.headers.get("location") ?? "").searchParams.get("hanko_token");
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
  } finally {
    await near.close();
  }
});

test("SAML can be the only sign-in method for an identifier", async () => {
  const at = runtime.configured({
    ...settings({ skip_email_verification: true }),
    STILE_PASSKEY_ENABLED: "true",
    STILE_PASSWORD_ENABLED: "false",
    STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
  });
  const { walk, token } = await viaProvider(at, "login");
  await walk.act("exchange_token", { token });
  expect(walk.state.name).toBe("success");
  const other = await restWalk(at, "login");
  await other.act("register_client_capabilities");
  await other.act("continue_with_login_identifier", { email: "ada@example.com" });
  expect(other.state).toMatchObject({ name: "login_init", error: { code: "flow_discontinuity_error" } });
});

describe("POST /token_exchange", () => {
  test("begins at the provider, with nothing before it", async () => {
    const walk = await restWalk(runtime, "token_exchange");
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 200, payload: {} });
    expect(Object.keys(walk.state.actions)).toEqual(["exchange_token"]);
    expect(walk.state.actions.exchange_token?.href).toMatch(/^\/token_exchange\?action=exchange_token%40/);
  });

  test("signs a user in after an IdP-initiated sign-on of a trusted provider", async () => {
    const { walk, token, who } = await byItself(trusting);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    expect(walk.state.payload).toMatchObject({
      last_login: { login_method: "third_party", third_party_provider: `${provider.entityId}` },
    });
    // The same person again, by whichever way.
    const again = await viaProvider(trusting, "login", who);
    await again.walk.act("exchange_token", { token: again.token });
    const subject = (state: FlowState) => (state.payload.claims as { subject: string }).subject;
    expect(subject(again.walk.state)).toBe(subject(walk.state));
  });

  test("asks for a code where the provider is not trusted for the address", async () => {
    const { walk, token, who } = await byItself(runtime);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "passcode_confirmation", status: 200 });
    expect(Object.keys(walk.state.actions)).toEqual(["verify_passcode", "resend_passcode", "back"]);
    await walk.act("verify_passcode", { code: mailedCode(runtime, who.email) });
    expect(walk.state.name).toBe("success");
    expect((await walk.visitor.request("/me")).status).toBe(200);
  });

  test("A37 rejects the token of another browser", async () => {
    const { token } = await byItself(trusting);
    const victim = await restWalk(trusting, "token_exchange");
    await victim.act("exchange_token", { token });
    expect(victim.state).toMatchObject({ name: "thirdparty", status: 400 });
    expect(victim.visitor.cookies.has("service")).toBe(false);
  });

  test("goes back to where another token may be brought, and what was shown is forgotten", async () => {
    const { walk, token } = await byItself(runtime);
    await walk.act("exchange_token", { token });
    await walk.act("back");
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 200 });
    expect(Object.keys(walk.state.actions)).toEqual(["exchange_token"]);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 400 });
  });

  test("A49 takes a token once, and none that a flow of another kind waits for", async () => {
    const { token, walk } = await byItself(trusting);
    const again = () => restWalk(trusting, "token_exchange", walk.visitor);
    const walks = await Promise.all(Array.from({ length: 10 }, again));
    await Promise.all(walks.map((walk) => walk.act("exchange_token", { token })));
    const names = walks.map(({ state }) => state.name).toSorted();
    expect(names).toEqual(["success", ...Array(9).fill("thirdparty")]);

    const login = await viaProvider(trusting, "login");
    const stranger = await restWalk(trusting, "token_exchange");
    await stranger.act("exchange_token", { token: login.token });
    expect(stranger.state).toMatchObject({ name: "thirdparty", status: 400 });
    const unasked = await byItself(trusting);
    await login.walk.act("exchange_token", { token: unasked.token });
    expect(login.walk.state).toMatchObject({ name: "thirdparty", status: 400 });
    await login.walk.act("exchange_token", { token: login.token });
    expect(login.walk.state.name).toBe("success");
  });

  test("A39 a token of one browser does not sign another one in to a flow of its own", async () => {
    const attacker = await viaProvider(trusting, "login");
    const victim = await viaProvider(trusting, "login");
    await victim.walk.act("exchange_token", { token: attacker.token });
    expect(victim.walk.state).toMatchObject({ name: "thirdparty", status: 400 });
  });
});

describe("an account that has the address", () => {
  test("is joined when it and a trusted provider have proved it", async () => {
    const who = person();
    // Registered while no provider had the domain.
    const before = runtime.configured({ STILE_SAML_ENABLED: "false" });
    const registered = await restRegistration(before, who.email);
    const { walk, token } = await viaProvider(trusting, "login", who);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    const subject = (state: FlowState) => (state.payload.claims as { subject: string }).subject;
    expect(subject(walk.state)).toBe(subject(registered.state));
  });

  test("is not linked by a provider that is not trusted for the address", async () => {
    const who = person();
    const before = runtime.configured({ STILE_SAML_ENABLED: "false" });
    await restRegistration(before, who.email);
    const { walk, token } = await viaProvider(runtime, "login", who);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "thirdparty", error: { code: "user_conflict" } });
    // Nor to one that speaks for an address outside its own domains.
    const outside = { ...person(), attributes: { email: `${crypto.randomUUID()}@example.com` } };
    await restRegistration(before, outside.attributes.email);
    const other = await viaProvider(trusting, "login", outside);
    await other.walk.act("exchange_token", { token: other.token });
    expect(other.walk.state).toMatchObject({ name: "thirdparty", error: { code: "user_conflict" } });
  });
});
