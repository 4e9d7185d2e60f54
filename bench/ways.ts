import { randomUUID } from "node:crypto";
import { authenticatorApp } from "../server/testing/authenticator-app.ts";
import { createUafAuthenticator } from "../server/testing/uaf-authenticator/authenticator.ts";
import { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { passkeySigner } from "./passkey-signer.ts";
import { importedPeople, type People, provider, tenantId } from "./people.ts";
import type { Setting } from "./setting.ts";
import type { Visit } from "./visit.ts";
import { type WalkName, walks } from "./walks.ts";
import { authorizationCode, type World } from "./world.ts";

/**
 * How one connection performs a task: prepares it, and returns what performs it once.
 *
 * @param home a visit of Stile, whatever server is measured: authenticators are registered there
 * @param connection its number, from 0; what is registered for one is used again in later rounds
 */
export type Way = (visit: Visit, home: Visit, connection: number) => Promise<() => Promise<unknown>>;

export type WayName = keyof ReturnType<typeof makeWays>[WalkName];

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

/** The ways of all tasks, by how a flow is walked through; `tasks.ts` tells which one is compared with what. */
export function makeWays(world: World, setting: Setting, people: People = importedPeople()) {
  const { origin } = setting;
  const { assertionOf } = passkeySigner(setting);
  const app = authenticatorApp(setting.totp);

  const inCookie = `cookie: ${setting.cookie}\r\n`;
  const [tenant, authority] = [`/passkeys/${tenantId}`, "/authenticator/v1/uaf/requests"];
  const apiKey = `apikey: ${setting.keys.passkeys}\r\n`;
  const secret = `authorization: secret ${setting.keys.authenticator}\r\n`;
  const ask = async <Result>(visit: Visit, method: string, path: string, body: unknown, key: string) =>
    JSON.parse((await visit.call(method, path, body, key)).body) as Result;

  /** Users of the passkey server, and of the authenticator interface, by the connection that signs as them. */
  const signers = new Map<number, ReturnType<typeof registerSigner>>();
  const uafDevices = new Map<number, ReturnType<typeof registerUafDevice>>();

  async function registerSigner(home: Visit) {
    const [userId, device] = [`bench-${randomUUID()}`, softwareAuthenticator()];
    const user = { user_id: userId, username: userId };
    const options = await ask(home, "POST", `${tenant}/registration/initialize`, user, apiKey);
    await home.call("POST", `${tenant}/registration/finalize`, device.create(options, { origin }), apiKey);
    return { userId, device };
  }

  const requestOf = (from: Visit, operation: "REG" | "AUTH", userId: string) => {
    const asked = { operation, userId, username: `${userId}@bench.example` };
    return ask<UafRequest>(from, "POST", authority, asked, secret);
  };

  async function answerTo(visit: Visit, id: string, uafResponse: string): Promise<void> {
    const { status } = await ask<UafRequest>(visit, "PUT", `${authority}/${id}`, { uafResponse }, secret);
    if (status !== "OK") throw new Error(`the answer of an authenticator ended in ${status}`);
  }

  async function registerUafDevice(home: Visit) {
    const [userId, device] = [`bench-${randomUUID()}`, createUafAuthenticator()];
    const { id, request } = await requestOf(home, "REG", userId);
    await answerTo(home, id, device.register(request, { facetId: origin }));
    return { userId, device };
  }

  const waysOf = (walk: WalkName) => {
    const { begin } = walks[walk];

    async function passkeyLogin(visit: Visit): Promise<void> {
      const { payload, act } = await begin(visit, "login", capable);
      const { publicKey } = payload.request_options as { publicKey: { challenge: string } };
      await act("webauthn_verify_assertion_response", {
        assertion_response: assertionOf(publicKey.challenge, people.passkey()),
      });
      await visit.finish();
    }

    async function identified(visit: Visit, email: string): Promise<void> {
      const { act } = await begin(visit, "login", incapable);
      await act("continue_with_login_identifier", { email });
    }

    async function passwordEntered(visit: Visit, email: string): Promise<void> {
      await identified(visit, email);
      if (visit.state.actions.continue_to_password_login) await visit.act("continue_to_password_login");
      await visit.act("password_login", { password: setting.password });
    }

    return {
      answer: async (visit) => () => visit.call("GET", "/health/alive"),
      flowStart: async (visit) => () => {
        visit.forget();
        return visit.begin("login");
      },
      cheapStep: async (visit) => {
        await visit.begin("login");
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
        const email = people.address("code");
        const mailed = world.nextCode(email);
        await identified(visit, email);
        if (visit.state.actions.continue_to_passcode_confirmation)
          await visit.act("continue_to_passcode_confirmation");
        await visit.act("verify_passcode", { code: await mailed });
        await visit.finish();
      },
      passwordLogin: async (visit) => async () => {
        await passwordEntered(visit, people.address("password"));
        await visit.finish();
      },
      totpLogin: async (visit) => async () => {
        await passwordEntered(visit, people.address("totp"));
        await visit.act("otp_code_validate", { otp_code: app.code(Date.now()) });
        await visit.finish();
      },
      registration: async (visit) => async () => {
        const email = `${randomUUID()}@bench.example`;
        const { act } = await begin(visit, "registration", incapable);
        const mailed = world.nextCode(email);
        await act("register_login_identifier", { email });
        await visit.act("verify_passcode", { code: await mailed });
        await visit.act("register_password", { new_password: setting.password });
        await visit.finish();
      },
      thirdPartyLogin: async (visit) => async () => {
        const { act } = await begin(visit, "login", incapable);
        const { payload } = await act("thirdparty_oauth", {
          provider: provider.id,
          redirect_to: origin,
        });
        const asked = new URL(String(payload.redirect_url)).searchParams;
        const nonce = asked.get("nonce") ?? undefined;
        const back = new URLSearchParams({
          code: authorizationCode({ sub: people.subject(), nonce }),
          state: asked.get("state") ?? "",
        });
        const { head } = await visit.call("GET", `/thirdparty/callback?${back}`);
        const [, location = ""] = /\r\nlocation: *([^\r]+)/i.exec(head) ?? [];
        const token = new URL(location, origin).searchParams.get("hanko_token");
        await visit.act("exchange_token", { token });
        await visit.finish();
      },
      transaction: async (visit, home, connection) => {
        const { userId, device } = await kept(signers, connection, () => registerSigner(home));
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
      uafAnswer: async (visit, home, connection) => {
        const { userId, device } = await kept(uafDevices, connection, () => registerUafDevice(home));
        return async () => {
          const asked = await requestOf(visit, "AUTH", userId);
          await answerTo(visit, asked.id, device.authenticate(asked.request, { facetId: origin }));
        };
      },
    } satisfies Record<string, Way>;
  };
  return { page: waysOf("page"), clients: waysOf("clients") };
}

/** What was made for a connection before, or is made now. */
function kept<Made>(
  made: Map<number, Promise<Made>>,
  connection: number,
  make: () => Promise<Made>,
): Promise<Made> {
  const known = made.get(connection) ?? make();
  made.set(connection, known);
  return known;
}
