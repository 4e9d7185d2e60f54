import { type FlowClient, flowClient } from "../flow-client.ts";
import {
  type Act,
  type Acts,
  always,
  atState,
  capable,
  complete,
  type Journey,
  newAddress,
  type Person,
  type Prepare,
  withCode,
} from "./journey.ts";
import { login, loginByCode } from "./logins.ts";
import { createPasskey, createTotp, registered, registration, setPassword } from "./registrations.ts";
import { answerTotp } from "./second-factor-logins.ts";
import { SAML_DOMAIN } from "./settings.ts";

/** The address is in the domain of the SAML provider. A person who has one keeps it. */
const identifyAtSaml =
  (action: string): Act =>
  async ({ person }) => {
    if (!person.email.endsWith(`@${SAML_DOMAIN}`)) person.email = newAddress(SAML_DOMAIN);
    return [action, { email: person.email }];
  };

/** @param claims beside the subject */
const visitProvider =
  (claims: (person: Person) => object): Act =>
  async ({ person, client, fixtures: { provider } }) => {
    provider.signsIn({ sub: person.email, ...claims(person) });
    return ["exchange_token", { token: await provider.visit(client) }];
  };

const visitSamlProvider: Act = async ({ state, person, client, fixtures: { samlProvider } }) => {
  samlProvider.person = samlUser(person);
  const page = await (await fetch(String(state.payload.redirect_url))).text();
  const fields = [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  const form = fields.map(([, name = "", value = ""]): [string, string] => [name, value]);
  return ["exchange_token", { token: await postToCallback(client, form) }];
};

const samlUser = ({ email }: Person) => ({ nameId: email, attributes: { email } });

/** Brings a SAML response as the browser does; returns the exchange token. */
async function postToCallback(client: FlowClient, form: [string, string][]): Promise<string> {
  const response = await client.request("/saml/callback", {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const target = new URL(response.headers.get("location") ?? "about:blank");
  const token = target.searchParams.get("hanko_token");
  if (!token) throw new Error(`the SAML response was rejected: ${target.search || response.status}`);
  return token;
}

/** The SAML provider signs the person in on its own. */
const begunBySamlProvider: Prepare = async ({ client, person, fixtures: { origin, samlProvider } }) => {
  person.email = newAddress(SAML_DOMAIN);
  const consumer = { consumerUrl: `${origin}/saml/callback`, audience: origin };
  const SAMLResponse = await samlProvider.answer({ ...consumer, ...samlUser(person) });
  person.exchangeToken = await postToCallback(client, [["SAMLResponse", SAMLResponse]]);
};

export const goToProvider: Act = async ({ fixtures: { provider, origin } }) => [
  "thirdparty_oauth",
  { provider: provider.id, redirect_to: origin },
];

const withAddress = ({ email }: Person) => ({ email, email_verified: true });

const loginThroughProvider: Acts = {
  ...login,
  login_init: goToProvider,
  thirdparty: visitProvider(withAddress),
};

/** Comes back from a provider that has authenticated the user anew. */
export const reauthenticateAtProvider = visitProvider((person) => ({
  ...withAddress(person),
  auth_time: Math.floor(Date.now() / 1000),
}));

/** The first one creates an account without a password or a passkey. */
const throughProvider: Journey = {
  name: "a login through a provider",
  type: "login",
  acts: loginThroughProvider,
  end: atState("success"),
};

/** Creates the account in the browser of the walk, which is signed in then. */
export const signedInThroughProvider: Prepare = (start) => complete(throughProvider, start);

/** Creates the account in a browser of its own. */
const createdThroughProvider: Prepare = ({ server, ...start }) =>
  complete(throughProvider, { ...start, client: flowClient(server.url) });

export const providerSignIns: Journey[] = [
  throughProvider,
  {
    name: "a login through a provider that states no address",
    type: "login",
    acts: {
      ...loginThroughProvider,
      thirdparty: visitProvider(() => ({})),
      onboarding_email: async ({ person }) => ["email_address_set", { email: person.email }],
      passcode_confirmation: withCode,
    },
    end: atState("success"),
  },
  {
    name: "a login through a provider to an account with an authenticator app",
    type: "login",
    acts: { ...loginThroughProvider, login_otp: answerTotp() },
    end: atState("success"),
    prepare: registered({ ...registration, ...createTotp }),
  },
  {
    name: "a login that offers to set a password",
    type: "login",
    acts: {
      ...loginByCode,
      preflight: capable,
      credential_onboarding_chooser: always("continue_to_password_registration"),
      password_creation: setPassword,
    },
    end: atState("success"),
    prepare: createdThroughProvider,
  },
  {
    name: "a login that offers to create a passkey",
    type: "login",
    acts: {
      ...loginByCode,
      ...createPasskey,
      preflight: capable,
      credential_onboarding_chooser: always("continue_to_passkey_registration"),
    },
    end: atState("success"),
    prepare: createdThroughProvider,
  },
  {
    name: "a login through a SAML provider",
    type: "login",
    acts: {
      ...login,
      login_init: identifyAtSaml("continue_with_login_identifier"),
      thirdparty: visitSamlProvider,
      passcode_confirmation: withCode,
    },
    end: atState("success"),
  },
  {
    name: "a registration through a SAML provider",
    type: "registration",
    acts: {
      ...registration,
      registration_init: identifyAtSaml("register_login_identifier"),
      thirdparty: visitSamlProvider,
    },
    end: atState("success"),
  },
  {
    name: "a sign-in that a SAML provider begins",
    type: "token_exchange",
    acts: {
      thirdparty: async ({ person }) => ["exchange_token", { token: person.exchangeToken }],
      passcode_confirmation: withCode,
      onboarding_username: always("skip"),
    },
    end: atState("success"),
    prepare: begunBySamlProvider,
  },
];
