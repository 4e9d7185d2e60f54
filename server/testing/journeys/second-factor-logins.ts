import { authenticatorApp } from "../authenticator-app.ts";
import { readPng } from "../qr-reading.ts";
import { callAt } from "../uaf-service.ts";
import { requests } from "../uaf-walk.ts";
import { type Act, always, atState, capable, type Journey, type Prepare, type Situation } from "./journey.ts";
import { login } from "./logins.ts";
import { createSecurityKey, createTotp, registered, registration, signedUp } from "./registrations.ts";

/** @param later so many time steps ahead; each code counts once */
export const answerTotp =
  (later = 0): Act =>
  async ({ person: { totpSecret = "" } }) => [
    "otp_code_validate",
    { otp_code: authenticatorApp(totpSecret).code(Date.now(), later) },
  ];

/** Registers the person, and then the phone by the application's interface. */
const registeredWithPhone: Prepare = async (start) => {
  const { client, person, server, fixtures } = start;
  await signedUp(registration)(start);
  const { subject } = client.state.payload.claims as { subject: string };
  client.cookies.clear();
  const authorization = `secret ${fixtures.authenticatorKey}`;
  const address = `${server.url}/authenticator${requests}`;
  const asked = { operation: "REG", userId: subject, username: person.email };
  const { body: request } = await callAt(address, "POST", { authorization, body: asked });
  const uafResponse = person.phone.register(request.request, { facetId: fixtures.origin });
  const answered = await callAt(`${address}/${request.id}`, "PUT", { authorization, body: { uafResponse } });
  if (answered.body?.status !== "OK") throw new Error(`the phone was not registered: ${answered.text}`);
};

/** Reads the QR code of the login with the phone, and confirms. */
async function confirmOnPhone({ state, person, client, fixtures }: Situation): Promise<void> {
  const [, picture = ""] = String(state.payload.qr_image_source).split(",");
  const { pathname, searchParams } = new URL(readPng(Buffer.from(picture, "base64")).text ?? "");
  const headers = {
    "content-type": "application/json",
    authorization: `device ${searchParams.get("token")}`,
  };
  const { request } = (await (await client.request(pathname, { headers })).json()) as { request: string };
  const uafResponse = person.phone.authenticate(request, { facetId: fixtures.origin });
  const answered = await client.request(pathname, {
    method: "PUT",
    headers,
    body: JSON.stringify({ uafResponse }),
  });
  if (!answered.ok) throw new Error(`the phone's answer was rejected: ${await answered.text()}`);
}

export const secondFactorLogins: Journey[] = [
  {
    name: "a login with an authenticator app",
    type: "login",
    acts: { ...login, login_otp: answerTotp() },
    end: atState("success"),
    prepare: registered({ ...registration, ...createTotp }),
  },
  {
    name: "a login with a recovery code",
    type: "login",
    acts: {
      ...login,
      login_otp: async ({ person: { recoveryCodes = [] } }) => [
        "recovery_code_validate",
        { recovery_code: recoveryCodes[0] },
      ],
    },
    end: atState("success"),
    prepare: registered({ ...registration, ...createTotp }),
  },
  {
    name: "a login with a security key",
    type: "login",
    acts: {
      ...login,
      preflight: capable,
      login_security_key: always("webauthn_generate_request_options"),
      login_passkey: async ({ state, person, fixtures: { origin } }) => [
        "webauthn_verify_assertion_response",
        { assertion_response: person.securityKey.get(state.payload.request_options, { origin }) },
      ],
    },
    end: atState("success"),
    prepare: registered({
      ...registration,
      ...createSecurityKey,
      preflight: capable,
      onboarding_create_passkey: always("skip"),
    }),
  },
  {
    name: "a login with an authenticator on a phone",
    type: "login",
    acts: {
      ...login,
      login_authenticator: async (situation) => {
        await confirmOnPhone(situation);
        return ["authenticator_verify"];
      },
    },
    end: atState("success"),
    prepare: registeredWithPhone,
  },
];
