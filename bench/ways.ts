import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { createUafAuthenticator } from "../server/dev/uaf-authenticator/authenticator.ts";
import { authenticatorApp } from "../server/testing/authenticator-app.ts";
import { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { authenticatorData, clientDataJson, signedBytes } from "../server/testing/webauthn-messages.ts";
import {
  addressOf,
  credentialIdOf,
  type Kind,
  kinds,
  provider,
  subjectOf,
  tenantId,
  userHandleOf,
} from "./people.ts";
import type { Visit } from "./visit.ts";
import { authorizationCode, type World } from "./world.ts";

/** What the load generator knows about the users and the server's keys. */
export interface Setting {
  password: string;
  /** Secret of all authenticator apps, base 32. */
  totp: string;
  /** PKCS#8 PEM of the private key of all passkeys. */
  passkey: string;
  /** The origin of the server's pages: of Stile, and thus what the hand-made server expects too. */
  origin: string;
  /** API keys of the passkey server and of the authenticator interface. */
  keys: { passkeys: string; authenticator: string };
  /** A session cookie, as `name=value`. */
  cookie: string;
  /** Webhooks that get an event of each login. */
  webhooks: number;
}

/**
 * How one connection performs a task: prepares it, and returns what performs it once.
 *
 * @param home a visit of Stile, whatever server is measured: authenticators are registered there
 */
export type Way = (visit: Visit, home: Visit) => Promise<() => Promise<unknown>>;

export type WayName = keyof ReturnType<typeof makeWays>;

/** What is read of the resource of a request to an authenticator. */
interface UafRequest {
  id: string;
  status: string;
  request: string;
}

const incapable = {
  webauthn_available: false,
  webauthn_conditional_mediation_available: false,
  webauthn_platform_authenticator_available: false,
};
const capable = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};

/** The ways of all tasks; `tasks.ts` tells which one is compared with what. */
export function makeWays(world: World, setting: Setting) {
  const { origin } = setting;
  const turns = new Map<Kind, number>();
  /** Users take turns, so that no two connections sign in the same one. */
  const next = (kind: Kind): number => {
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, (turn + 1) % kinds[kind]);
    return turn;
  };

  const app = authenticatorApp(setting.totp);
  const passkey = createPrivateKey(setting.passkey);
  const authData = authenticatorData({
    rpId: new URL(origin).hostname,
    signCount: 0,
    userPresent: true,
    userVerified: true,
    backupEligible: true,
    backedUp: true,
  });
  const authenticator = authData.toString("base64url");

  /** Signs a challenge as `PublicKeyCredential.toJSON()` reports it. */
  function assertionOf(challenge: string, index: number) {
    const clientData = clientDataJson({ type: "webauthn.get", challenge, origin, crossOrigin: false });
    const id = credentialIdOf(index);
    return {
      id,
      rawId: id,
      type: "public-key",
      clientExtensionResults: {},
      authenticatorAttachment: "platform",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authenticator,
        signature: sign("sha256", signedBytes(authData, clientData), passkey).toString("base64url"),
        userHandle: userHandleOf(index),
      },
    };
  }

  async function passkeyLogin(visit: Visit): Promise<void> {
    await visit.start("login");
    const { payload } = await visit.act("register_client_capabilities", capable);
    const { publicKey } = payload.request_options as { publicKey: { challenge: string } };
    await visit.act("webauthn_verify_assertion_response", {
      assertion_response: assertionOf(publicKey.challenge, next("passkey")),
    });
    await visit.finish();
  }

  async function identified(visit: Visit, email: string): Promise<void> {
    await visit.start("login");
    await visit.act("register_client_capabilities", incapable);
    await visit.act("continue_with_login_identifier", { email });
  }

  async function passwordEntered(visit: Visit, email: string): Promise<void> {
    await identified(visit, email);
    if (visit.state.actions.continue_to_password_login) await visit.act("continue_to_password_login");
    await visit.act("password_login", { password: setting.password });
  }

  const inCookie = `cookie: ${setting.cookie}\r\n`;
  const [tenant, authority] = [`/passkeys/${tenantId}`, "/authenticator/v1/uaf/requests"];
  const apiKey = `apikey: ${setting.keys.passkeys}\r\n`;
  const secret = `authorization: secret ${setting.keys.authenticator}\r\n`;
  const ask = async <Result>(visit: Visit, method: string, path: string, body: unknown, key: string) =>
    JSON.parse((await visit.call(method, path, body, key)).body) as Result;

  return {
    answer: async (visit) => () => visit.call("GET", "/health/alive"),
    flowStart: async (visit) => () => visit.start("login"),
    cheapStep: async (visit) => {
      await visit.start("login");
      await visit.act("register_client_capabilities", incapable);
      return () => visit.act("remember_me", { remember_me: true });
    },
    sessionCheck: async (visit) => () => visit.call("GET", "/sessions/validate", undefined, inCookie),
    page: async (visit) => () =>
      visit.call("GET", "/", undefined, "accept: text/html\r\naccept-encoding: gzip\r\n"),
    passkeyLogin: async (visit) => () => passkeyLogin(visit),
    webhookFanOut: async (visit) => async () => {
      await passkeyLogin(visit);
      const { subject } = visit.state.payload.claims as { subject: string };
      await world.deliveries(subject, setting.webhooks);
    },
    codeLogin: async (visit) => async () => {
      const email = addressOf("code", next("code"));
      await identified(visit, email);
      const mailed = world.nextCode(email);
      if (visit.state.actions.continue_to_passcode_confirmation)
        await visit.act("continue_to_passcode_confirmation");
      await visit.act("verify_passcode", { code: await mailed });
      await visit.finish();
    },
    passwordLogin: async (visit) => async () => {
      await passwordEntered(visit, addressOf("password", next("password")));
      await visit.finish();
    },
    totpLogin: async (visit) => async () => {
      await passwordEntered(visit, addressOf("totp", next("totp")));
      await visit.act("otp_code_validate", { otp_code: app.code(Date.now()) });
      await visit.finish();
    },
    registration: async (visit) => async () => {
      const email = `${randomUUID()}@bench.example`;
      await visit.start("registration");
      await visit.act("register_client_capabilities", incapable);
      const mailed = world.nextCode(email);
      await visit.act("register_login_identifier", { email });
      await visit.act("verify_passcode", { code: await mailed });
      await visit.act("register_password", { new_password: setting.password });
      await visit.finish();
    },
    thirdPartyLogin: async (visit) => async () => {
      await visit.start("login");
      await visit.act("register_client_capabilities", incapable);
      const { payload } = await visit.act("thirdparty_oauth", {
        provider: provider.id,
        redirect_to: origin,
      });
      const asked = new URL(String(payload.redirect_url)).searchParams;
      const nonce = asked.get("nonce") ?? undefined;
      const back = new URLSearchParams({
        code: authorizationCode({ sub: subjectOf(next("identity")), nonce }),
        state: asked.get("state") ?? "",
      });
      const { head } = await visit.call("GET", `/thirdparty/callback?${back}`);
      const [, location = ""] = /\r\nlocation: *([^\r]+)/i.exec(head) ?? [];
      const token = new URL(location, origin).searchParams.get("hanko_token");
      await visit.act("exchange_token", { token });
      await visit.finish();
    },
    transaction: async (visit, home) => {
      const device = softwareAuthenticator();
      const userId = `bench-${randomUUID()}`;
      const user = { user_id: userId, username: userId };
      const created = await ask(home, "POST", `${tenant}/registration/initialize`, user, apiKey);
      await home.call("POST", `${tenant}/registration/finalize`, device.create(created, { origin }), apiKey);
      return async () => {
        const asked = {
          user_id: userId,
          transaction_id: randomUUID(),
          transaction_data: { amount: "149.90", currency: "EUR", payee: "Bergmann & Söhne" },
        };
        const options = await ask(visit, "POST", `${tenant}/transaction/initialize`, asked, apiKey);
        const confirmed = device.get(options, { origin });
        await visit.call("POST", `${tenant}/transaction/finalize`, confirmed, apiKey);
      };
    },
    uafAnswer: async (visit, home) => {
      const device = createUafAuthenticator();
      const userId = `bench-${randomUUID()}`;
      const username = `${userId}@bench.example`;
      const request = (from: Visit, operation: "REG" | "AUTH") =>
        ask<UafRequest>(from, "POST", authority, { operation, userId, username }, secret);
      const answer = async (to: Visit, id: string, uafResponse: string) => {
        const { status } = await ask<UafRequest>(to, "PUT", `${authority}/${id}`, { uafResponse }, secret);
        if (status !== "OK") throw new Error(`the answer of an authenticator ended in ${status}`);
      };
      const enrolment = await request(home, "REG");
      await answer(home, enrolment.id, device.register(enrolment.request, { facetId: origin }));
      return async () => {
        const asked = await request(visit, "AUTH");
        await answer(visit, asked.id, device.authenticate(asked.request, { facetId: origin }));
      };
    },
  } satisfies Record<string, Way>;
}
