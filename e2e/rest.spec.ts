import { createRemoteJWKSet, jwtVerify } from "jose";
import { coseAlgorithms } from "../server/testing/cose-key.ts";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { signUp } from "./account.ts";
import { expect, test } from "./fixtures.ts";

/** The REST interface alone, without a browser, of the server as it is deployed. */

const capable = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};

async function begin(url: string): Promise<FlowClient> {
  const client = flowClient(url);
  await client.start("login");
  expect(client.last).toMatchObject({ status: 200, state: { name: "preflight", links: null } });
  await client.act("register_client_capabilities", capable);
  expect(client.state.name).toBe("login_init");
  return client;
}

test("a passkey of each algorithm registers and signs in", async ({ server, mailbox, address }) => {
  for (const [name, algorithm] of Object.entries(coseAlgorithms)) {
    const who = `${name.toLowerCase()}-${address}`;
    const registering = flowClient(server.url);
    await registering.start("registration");
    await registering.act("register_client_capabilities", capable);
    const asked = mailbox.messages.length;
    await registering.act("register_login_identifier", { email: who });
    await registering.act("verify_passcode", { code: await mailbox.codeFor(who, asked) });
    await registering.act("register_password", { new_password: "seven herons over the lake" });
    await registering.act("webauthn_generate_creation_options");
    const authenticator = softwareAuthenticator({
      algorithms: [algorithm],
      attestation: "packed",
      counts: true,
    });
    const { creation_options: creation } = registering.state.payload;
    if (algorithm === coseAlgorithms.ES256K) {
      expect(() => authenticator.create(creation, { origin: server.url })).toThrow("no common algorithm");
      continue;
    }
    await registering.act("webauthn_verify_attestation_response", {
      public_key: authenticator.create(creation, { origin: server.url }),
    });
    await registering.act("skip");
    expect(registering.state.name).toBe("success");

    const signingIn = await begin(server.url);
    await signingIn.act("webauthn_generate_request_options");
    const assertion = authenticator.get(signingIn.state.payload.request_options, { origin: server.url });
    await signingIn.act("webauthn_verify_assertion_response", { assertion_response: assertion });
    expect(signingIn.state).toMatchObject({
      name: "success",
      payload: { last_login: { login_method: "passkey" } },
    });
  }
});

test("an application can verify a session itself: signature, audience, and whether it is active", async ({
  server,
  account,
}) => {
  const client = await begin(server.url);
  await client.act("continue_with_login_identifier", { email: account.address });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: account.password });
  await client.act("skip");
  expect(client.state.name).toBe("success");
  const lifetime = Number(client.last.headers.get("x-session-lifetime"));
  expect(lifetime).toBeGreaterThan(43_190);
  expect(lifetime).toBeLessThanOrEqual(43_200);

  const token = client.cookies.get("service") ?? "";
  const keys = createRemoteJWKSet(new URL(`${server.url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(token, keys, { audience: new URL(server.url).hostname });
  expect(Object.keys(payload).sort()).toEqual(["amr", "aud", "exp", "iat", "iss", "session_id", "sub"]);
  expect(await (await client.request("/sessions/validate")).json()).toMatchObject({
    is_valid: true,
    claims: { session_id: payload.session_id },
  });

  expect((await client.request("/logout", { method: "POST" })).status).toBe(204);
  expect(client.cookies.has("service")).toBe(false);
  client.cookies.set("service", token);
  expect(await (await client.request("/sessions/validate")).json()).toEqual({ is_valid: false });
});

const wrongAnswers = {
  "another challenge": { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
  "another origin": { origin: "https://evil.example" },
  "another relying party": { rpId: "evil.example" },
  "the other ceremony": { type: "webauthn.create" },
  "a frame of another origin": { crossOrigin: true, topOrigin: "https://evil.example" },
  "no user present": { userPresent: false },
  "a broken signature": { brokenSignature: true },
  "a counter that stood still": { signCount: 1 },
  "a counter that went back": { signCount: 0 },
  "no user": { userHandle: null },
  "another user": { userHandle: "Zm9yZWlnbg" },
  "another backup eligibility": { backupEligible: false, backedUp: false },
} as const;

test("a passkey with a single error is rejected, and the correct one is still accepted", async ({
  server,
  mailbox,
  address,
}) => {
  const authenticator = softwareAuthenticator({ counts: true });
  await signUp(server.url, mailbox, address, { passkey: true, authenticator });
  const client = await begin(server.url);
  const assert = async (wrong: object) => {
    const { request_options: options } = client.state.payload;
    const assertion = authenticator.get(options, { origin: server.url, ...wrong });
    await client.act("webauthn_verify_assertion_response", { assertion_response: assertion });
  };
  for (const [what, wrong] of Object.entries(wrongAnswers)) {
    await assert(wrong);
    expect.soft([what, client.last.status, client.state.error?.code]).toEqual([what, 401, "passkey_invalid"]);
    expect.soft(client.state.name).toBe("login_init");
    expect.soft(client.cookies.size).toBe(0);
  }
  await assert({});
  expect(client.state.name).toBe("success");
});

test("A113 a flow continues after the server was killed", async ({ server, account }) => {
  const client = await begin(server.url);
  await client.act("continue_with_login_identifier", { email: account.address });
  await server.kill("SIGKILL");
  await server.restart();
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: account.password });
  await client.act("skip");
  expect(client.state.name).toBe("success");
});

test("A28 a stale token is rejected, and the newest one still works", async ({ server, account }) => {
  const client = await begin(server.url);
  const stale = client.state.csrf_token;
  await client.act("continue_with_login_identifier", { email: account.address });
  await client.attempt("continue_to_password_login", {}, { csrfToken: stale });
  expect(client.last).toMatchObject({
    status: 403,
    state: { name: "error", error: { code: "operation_not_permitted_error" } },
  });
  await client.act("continue_to_password_login");
  expect(client.state.name).toBe("login_password");
});
