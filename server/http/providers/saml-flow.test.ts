import { describe, expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
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

const runtime = await runtimeForTests(settings());
const trusting = runtime.configured(settings({ skip_email_verification: true }));

/** A new user of the provider. */
function person(): Pick<Answer, "nameId" | "attributes"> & { email: string } {
  const name = crypto.randomUUID();
  const email = `${name}@example.org`;
  return { email, nameId: name, attributes: { email, displayName: "Ada" } };
}

/** Posts the provider's response as the browser does; returns the exchange token of the redirect. */
async function bring(browser: Visitor, answer: Partial<Answer>, relayState?: string): Promise<string> {
  const SAMLResponse = await provider.answer({ ...sp, ...answer });
  const response = await browser.request("/saml/callback", {
    method: "POST",
    body: new URLSearchParams({ SAMLResponse, ...(relayState ? { RelayState: relayState } : {}) }),
  });
  const location = new URL(response.headers.get("location") ?? "");
  const token = location.searchParams.get("hanko_token");
  if (!token) throw new Error(`${location.searchParams.get("error")}`);
  return token;
}

/** Enters an identifier in a flow, signs in at the provider, and returns with a token. */
async function viaProvider(at: TestRuntime, type: "login" | "registration", user = person()) {
  const walk = await restWalk(at, type);
  await walk.act("register_client_capabilities");
  await (type === "login"
    ? walk.act("continue_with_login_identifier", { email: user.email })
    : walk.act("register_login_identifier", { email: user.email }));
  expect(walk.state.name).toBe("thirdparty");
  const request = provider.read(String(walk.state.payload.redirect_url));
  const { nameId, attributes } = user;
  const token = await bring(
    walk.visitor,
    { nameId, attributes, inResponseTo: request.id },
    request.relayState,
  );
  return { walk, user, token, request };
}

/** Starts an IdP-initiated sign-in. */
async function idpInitiated(
  at: TestRuntime,
  user = person(),
): Promise<{ walk: RestWalk; token: string; user: typeof user }> {
  const browser = visitor(at);
  const token = await bring(browser, { nameId: user.nameId, attributes: user.attributes });
  return { walk: await restWalk(at, "token_exchange", browser), token, user };
}

const codes = (state: FlowState) => [
  state.error?.code,
  ...Object.values(state.actions).flatMap(({ inputs }) =>
    Object.values(inputs ?? {}).flatMap(({ error }) => (error ? [error.code] : [])),
  ),
];

describe.each(["login", "registration"] as const)("in a %s flow", (type) => {
  test("an address in the provider's domain redirects to the provider, and the return issues a session", async () => {
    const { walk, token, user } = await viaProvider(trusting, type);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    const me = await (await walk.visitor.request("/me")).json();
    expect(me).toMatchObject({ name: "Ada", emails: [{ address: user.email, is_verified: true }] });
    expect(walk.state.payload).toMatchObject({ claims: { amr: [`ext:${provider.entityId}`] } });
  });

  test("A43 an address that the provider is not trusted for must be verified first", async () => {
    const { walk, token, user } = await viaProvider(runtime, type);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("passcode_confirmation");
    await walk.act("verify_passcode", { code: mailedCode(runtime, user.email) });
    expect(walk.state.name).toBe("success");
  });

  test("an invalid token changes nothing, and the user can go back", async () => {
    const { walk, request } = await viaProvider(trusting, type);
    expect(request.relayState).not.toBe("");
    await walk.act("exchange_token", { token: "x" });
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 400 });
    await walk.act("back");
    expect(walk.state.name).toBe(`${type}_init`);
  });

  test("an unreachable provider is an input error, and the flow continues", async () => {
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

test("an address outside the provider's domains does not redirect to the provider", async () => {
  const walk = await restWalk(runtime, "login");
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email: "ada@example.com" });
  expect(walk.state.name).toBe("login_method_chooser");
});

test("a provider can be configured by the URL of its metadata alone", async () => {
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
    // The redirect that the browser follows at the provider.
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

test("a provider that states no address is named as the reason why the page asks for one", async () => {
  const user = { ...person(), attributes: {} };
  const { walk, token } = await viaProvider(runtime, "login", user);
  await walk.act("exchange_token", { token });
  expect(walk.state).toMatchObject({
    name: "onboarding_email",
    payload: { provider_gave_no_address: true },
  });
  await walk.act("email_address_set", { email: user.email });
  await walk.act("verify_passcode", { code: mailedCode(runtime, user.email) });
  expect(walk.state.name).toBe("success");
});

describe("POST /token_exchange", () => {
  test("starts in the state `thirdparty`", async () => {
    const walk = await restWalk(runtime, "token_exchange");
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 200, payload: {} });
    expect(Object.keys(walk.state.actions)).toEqual(["exchange_token"]);
    expect(walk.state.actions.exchange_token?.href).toMatch(/^\/token_exchange\?action=exchange_token%40/);
  });

  test("signs a user in after an IdP-initiated sign-on of a trusted provider", async () => {
    const { walk, token, user } = await idpInitiated(trusting);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    expect(walk.state.payload).toMatchObject({
      last_login: { login_method: "third_party", third_party_provider: `${provider.entityId}` },
    });
    // The same user signs in again, SP-initiated.
    const again = await viaProvider(trusting, "login", user);
    await again.walk.act("exchange_token", { token: again.token });
    const subject = (state: FlowState) => (state.payload.claims as { subject: string }).subject;
    expect(subject(again.walk.state)).toBe(subject(walk.state));
  });

  test("requires a passcode if the provider is not trusted for the address", async () => {
    const { walk, token, user } = await idpInitiated(runtime);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "passcode_confirmation", status: 200 });
    expect(Object.keys(walk.state.actions)).toEqual(["verify_passcode", "resend_passcode", "back"]);
    await walk.act("verify_passcode", { code: mailedCode(runtime, user.email) });
    expect(walk.state.name).toBe("success");
    expect((await walk.visitor.request("/me")).status).toBe(200);
  });

  test("A37 rejects the token of another browser", async () => {
    const { token } = await idpInitiated(trusting);
    const victim = await restWalk(trusting, "token_exchange");
    await victim.act("exchange_token", { token });
    expect(victim.state).toMatchObject({ name: "thirdparty", status: 400 });
    expect(victim.visitor.cookies.has("service")).toBe(false);
  });

  test("goes back to the state that accepts another token and discards the displayed data", async () => {
    const { walk, token } = await idpInitiated(runtime);
    await walk.act("exchange_token", { token });
    await walk.act("back");
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 200 });
    expect(Object.keys(walk.state.actions)).toEqual(["exchange_token"]);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "thirdparty", status: 400 });
  });

  test("A49 accepts a token once, and rejects the token of a flow of another type", async () => {
    const { token, walk } = await idpInitiated(trusting);
    const again = () => restWalk(trusting, "token_exchange", walk.visitor);
    const walks = await Promise.all(Array.from({ length: 10 }, again));
    await Promise.all(walks.map((walk) => walk.act("exchange_token", { token })));
    const names = walks.map(({ state }) => state.name).toSorted();
    expect(names).toEqual(["success", ...Array(9).fill("thirdparty")]);

    const login = await viaProvider(trusting, "login");
    const otherFlow = await restWalk(trusting, "token_exchange");
    await otherFlow.act("exchange_token", { token: login.token });
    expect(otherFlow.state).toMatchObject({ name: "thirdparty", status: 400 });
    const idpInitiatedSignIn = await idpInitiated(trusting);
    await login.walk.act("exchange_token", { token: idpInitiatedSignIn.token });
    expect(login.walk.state).toMatchObject({ name: "thirdparty", status: 400 });
    await login.walk.act("exchange_token", { token: login.token });
    expect(login.walk.state.name).toBe("success");
  });

  test("A39 rejects the token of one browser in the flow of another browser", async () => {
    const attacker = await viaProvider(trusting, "login");
    const victim = await viaProvider(trusting, "login");
    await victim.walk.act("exchange_token", { token: attacker.token });
    expect(victim.walk.state).toMatchObject({ name: "thirdparty", status: 400 });
  });
});

describe("an account with the same address", () => {
  test("is linked if both the account and a trusted provider have verified the address", async () => {
    const user = person();
    // Registered before a provider had the domain.
    const before = runtime.configured({ STILE_SAML_ENABLED: "false" });
    const registered = await restRegistration(before, user.email);
    const { walk, token } = await viaProvider(trusting, "login", user);
    await walk.act("exchange_token", { token });
    expect(walk.state.name).toBe("success");
    const subject = (state: FlowState) => (state.payload.claims as { subject: string }).subject;
    expect(subject(walk.state)).toBe(subject(registered.state));
  });

  test("is not linked by a provider that is not trusted for the address", async () => {
    const user = person();
    const before = runtime.configured({ STILE_SAML_ENABLED: "false" });
    await restRegistration(before, user.email);
    const { walk, token } = await viaProvider(runtime, "login", user);
    await walk.act("exchange_token", { token });
    expect(walk.state).toMatchObject({ name: "thirdparty", error: { code: "email_already_exists" } });
    // A provider that asserts an address outside its own domains is not trusted either.
    const outside = { ...person(), attributes: { email: `${crypto.randomUUID()}@example.com` } };
    await restRegistration(before, outside.attributes.email);
    const other = await viaProvider(trusting, "login", outside);
    await other.walk.act("exchange_token", { token: other.token });
    expect(other.walk.state).toMatchObject({ name: "thirdparty", error: { code: "email_already_exists" } });
  });
});
