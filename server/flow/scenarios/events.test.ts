import { eq } from "drizzle-orm";
import pg from "pg";
import { describe, expect, it, test, vi } from "vitest";
import { schema } from "#db/client";
import { beginImpersonation, grantImpersonation } from "../../admin/impersonation.ts";
import { messageRecords } from "../../audit/message-records.ts";
import { emittedEventNames } from "../../config/event-names.ts";
import { findConsoleVisitor } from "../../console/console-sessions.ts";
import { type EventName, events } from "../../events/events.ts";
import { messageEvents } from "../../events/message-events.ts";
import { eventDataContext } from "../../events/seal-contexts.ts";
import { adminAddresses } from "../../http/admin/addresses.ts";
import { sendMail } from "../../mail/send-mail.ts";
import { createTenantMail } from "../../mail/tenant-mail.ts";
import { sendSms } from "../../sms/send-sms.ts";
import {
  type AccountContents,
  accountOwner,
  type AccountOwner as Owner,
} from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { testAttempt } from "../../testing/attempt.ts";
import { consoleAccount } from "../../testing/console-account.ts";
import { deviceBoundBrowser } from "../../testing/device-bound-browser.ts";
import { type StoredEvent, storedEvents, storeWebhook } from "../../testing/emitted-events.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { jpegPicture } from "../../testing/jpeg-pictures.ts";
import { send } from "../../testing/observed.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import {
  codeBySms,
  codeFor,
  newAddress,
  newName,
  newNumber,
  password,
  people,
} from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { requestContext } from "../../testing/request-context.ts";
import { restWalk } from "../../testing/rest-walk.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { states } from "../states/index.ts";

/** What every operation emits, in order: each is performed by the running machine with a webhook for every event. */

const { begin, register, signIn } = people();
const staffProvider = samlIdentityProvider();

const runtime = await runtimeForTests({
  STILE_USERNAME_ENABLED: "true",
  STILE_PHONE_ENABLED: "true",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
  STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
  STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
  STILE_EMAIL_ACQUIRE_ON_LOGIN: "false",
  STILE_PASSWORD_OPTIONAL: "true",
  STILE_ACCOUNT_ALLOW_DELETION: "true",
  STILE_PASSKEY_ENABLED: "false",
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    {
      name: "staff",
      domains: ["staff.example"],
      metadata: staffProvider.metadata,
      allow_idp_initiated: true,
      skip_email_verification: true,
    },
  ]),
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    reader: { name: "A reader", redirect_uris: ["https://reader.example/"], first_party: false },
  }),
  ...acme(),
});
const operator = await adminOperator(runtime);
await storeWebhook(runtime);

/** Prepares an operation, and returns the operation itself. */
type Prepare = () => Promise<() => Promise<unknown>>;

interface Operation {
  emits: readonly EventName[];
  prepare: Prepare;
}

const created = "session.create.flow";
const loggedOut = "session.delete.explicit.logout";
const revoked = "session.delete.explicit.revoke";

/** An action of a profile flow; its owner has another session. */
const profile =
  (has: AccountContents, act: (flow: Walk, owner: Owner) => Promise<unknown>, as = () => runtime): Prepare =>
  async () => {
    const owner = await accountOwner(as(), has);
    await owner.signInElsewhere();
    const flow = await owner.manage();
    return () => act(flow, owner);
  };

const performs = (action: string, input?: Record<string, unknown>) => (flow: Walk) => flow.act(action, input);

type Shown = { emails?: { id: string; is_primary: boolean }[]; identities?: { identity_id: string }[] };
const user = ({ state }: Walk) => state.payload.user as Shown;
const secondaryOf = ({ emails }: Shown) => emails?.find(({ is_primary }) => !is_primary)?.id;
const secondary = (flow: Walk) => ({ email_id: secondaryOf(user(flow)) });
const otherSession = ({ state }: Walk) => {
  const sessions = state.payload.sessions as { id: string; current: boolean }[];
  return { session_id: sessions.find(({ current }) => !current)?.id };
};

const picture = jpegPicture("square").toString("base64url");

/** Actions of the account page. One that is missing here fails a test. */
const profileActions: Record<string, Operation> = {
  email_create: {
    emits: ["user.update.email.create"],
    prepare: profile({}, async (flow) => {
      const email = newAddress();
      await flow.act("email_create", { email });
      await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    }),
  },
  email_delete: {
    emits: ["user.update.email.delete"],
    prepare: profile({ emails: 2 }, (flow) => flow.act("email_delete", secondary(flow))),
  },
  email_set_primary: {
    emits: ["user.update.email.primary"],
    prepare: profile({ emails: 2 }, (flow) => flow.act("email_set_primary", secondary(flow))),
  },
  email_verify: {
    emits: [],
    prepare: async () => {
      const unverified = newAddress();
      return profile({ unverified }, async (flow) => {
        await flow.act("email_verify", secondary(flow));
        await flow.act("verify_passcode", { code: codeFor(runtime, unverified) });
      })();
    },
  },
  phone_set: {
    emits: ["user.update.phone.create"],
    prepare: profile({}, async (flow) => {
      const phone = newNumber();
      await flow.act("phone_set", { phone });
      await flow.act("verify_passcode", { code: codeBySms(runtime, phone) });
    }),
  },
  phone_delete: {
    emits: ["user.update.phone.delete"],
    prepare: () => profile({ phone: { number: newNumber() } }, performs("phone_delete"))(),
  },
  username_create: {
    emits: ["user.update.username.create"],
    prepare: profile({}, (flow) => flow.act("username_create", { username: newName() })),
  },
  username_update: {
    emits: ["user.update.username.update"],
    prepare: () =>
      profile({ username: newName() }, (flow) => flow.act("username_update", { username: newName() }))(),
  },
  username_delete: {
    emits: ["user.update.username.delete"],
    prepare: () => profile({ username: newName() }, performs("username_delete"))(),
  },
  password_create: { emits: [], prepare: profile({}, performs("password_create", { password })) },
  password_update: {
    emits: ["user.update.password.update", revoked],
    prepare: profile(
      { password: true },
      performs("password_update", { password: `${password} 2`, end_other_sessions: true }),
    ),
  },
  password_delete: { emits: [], prepare: profile({ password: true }, performs("password_delete")) },
  session_delete: {
    emits: [revoked],
    prepare: profile({}, (flow) => flow.act("session_delete", otherSession(flow))),
  },
  session_delete_others: { emits: [revoked], prepare: profile({}, performs("session_delete_others")) },
  patch_metadata: {
    emits: ["user.update"],
    prepare: profile({}, performs("patch_metadata", { patch_metadata: { theme: "dark" } })),
  },
  name_update: {
    emits: ["user.update"],
    prepare: profile({}, performs("name_update", { name: "Ada Lovelace" })),
  },
  picture_update: {
    emits: ["user.update"],
    prepare: profile({}, performs("picture_update", { picture })),
  },
  picture_delete: {
    emits: ["user.update"],
    prepare: profile({ picture: true }, performs("picture_delete")),
  },
  account_delete: { emits: ["user.delete"], prepare: profile({}, performs("account_delete")) },
  application_revoke: {
    emits: ["oauth.grant.revoke"],
    prepare: async () => {
      const { guest, flow } = await askedByApplication();
      await flow.act("consent_allow");
      const account = await restWalk(runtime, "profile", guest);
      await account.act("register_client_capabilities");
      return () => account.act("application_revoke", { application_id: "reader" });
    },
  },
};

/** A user who is asked what an application may know. */
async function askedByApplication() {
  const { guest } = await browser(visitor(runtime));
  const query = new URLSearchParams({
    client_id: "reader",
    redirect_uri: "https://reader.example/",
    response_type: "code",
    scope: "openid email",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  const answer = await guest.request(`/oauth/authorize?${query}`);
  const request = new URL(answer.headers.get("location") ?? "").searchParams.get("request") ?? "";
  return { guest, flow: await restWalk(runtime, "consent", guest, { request }) };
}

/** Actions of the account page on credentials, whose changes are no events. */
const silentActions = [
  "webauthn_credential_create",
  "webauthn_credential_rename",
  "webauthn_credential_delete",
  "security_key_create",
  "security_key_delete",
  "continue_to_otp_secret_creation",
  "otp_secret_delete",
  "recovery_codes_create",
  "authenticator_delete",
  "trusted_device_delete",
  "connect_thirdparty_oauth_provider",
  "disconnect_thirdparty_oauth_provider",
];

const home = "http://localhost:3000/";

async function atAcme(facts: ReturnType<typeof acmePerson>, type: "login" | "registration" = "login") {
  const flow = await begin(runtime, type, {});
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
  const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts });
  return () => flow.act("exchange_token", { token });
}

/** A sign-in that the SAML provider starts. */
async function fromStaffProvider(nameId: string) {
  const guest = visitor(runtime);
  const SAMLResponse = await staffProvider.answer({
    consumerUrl: `${home}saml/callback`,
    audience: home.slice(0, -1),
    nameId,
    attributes: { email: `${nameId}@staff.example` },
  });
  const body = new URLSearchParams({ SAMLResponse });
  const { headers } = await guest.request("/saml/callback", { method: "POST", body });
  const token = new URL(headers.get("location") ?? "").searchParams.get("hanko_token");
  const flow = await restWalk(runtime, "token_exchange", guest);
  return async () => {
    await flow.act("exchange_token", { token });
    expect(flow.state.name).toBe("success");
  };
}

/** A signed-in browser. */
async function browser<Guest extends Visitor>(guest: Guest) {
  const owner = await register(runtime);
  const login = async () => {
    let answer = (await (await guest.post("/login")).json()) as {
      actions: Record<string, { href: string }>;
      csrf_token: string;
    };
    const act = async (action: string, input_data: object) => {
      const href = answer.actions[action]?.href ?? "";
      const url = new URL(href, home);
      const sent = await guest.post(url.pathname + url.search, { input_data, csrf_token: answer.csrf_token });
      answer = (await sent.json()) as typeof answer;
    };
    await act("register_client_capabilities", { webauthn_available: false });
    await act("continue_with_login_identifier", { identifier: owner.email });
    // A browser that has signed in before is led past the choice.
    if (answer.actions.continue_to_password_login) await act("continue_to_password_login", {});
    await act("password_login", { password });
  };
  await login();
  return { guest, login };
}

/** A signed-in browser that can bind its session, and does so when it is told to. */
async function binding() {
  const guest = deviceBoundBrowser(
    home.slice(0, -1),
    (request) => send(request, "192.0.2.1", runtime),
    () => Date.now() + runtime.platform.clockShift(),
  );
  guest.registers = false;
  return (await browser(guest)).guest;
}

const operations: Record<string, Operation> = {
  "a user who allows an application what it asks for": {
    emits: ["oauth.grant.create"],
    prepare: async () => {
      const { flow } = await askedByApplication();
      return () => flow.act("consent_allow");
    },
  },
  "a code of an application that is redeemed twice": {
    emits: ["oauth.token.refused"],
    prepare: async () => {
      const { guest, flow } = await askedByApplication();
      await flow.act("consent_allow");
      const resumed = await guest.request(new URL(String(flow.state.payload.redirect_url)).pathname);
      const code = new URL(resumed.headers.get("location") ?? "").searchParams.get("code") ?? "";
      const redeem = () =>
        guest.submit("/oauth/token", {
          grant_type: "authorization_code",
          client_id: "reader",
          redirect_uri: "https://reader.example/",
          code,
          code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        });
      expect((await redeem()).status).toBe(200);
      return redeem;
    },
  },
  "a browser that binds its session to its device": {
    emits: ["session.binding.create"],
    prepare: async () => {
      const guest = await binding();
      return () => guest.register();
    },
  },
  "the cookie of a bound session on another device": {
    emits: ["session.binding.rejected"],
    prepare: async () => {
      const guest = await binding();
      await guest.register();
      const [id = ""] = guest.bound.keys();
      // The time for requests under way is over.
      const boundAt = new Date(Date.now() - 120_000);
      await runtime.database.write.update(schema.sessions).set({ boundAt }).where(eq(schema.sessions.id, id));
      const cookie = guest.cookieHeader("service-bound");
      return () => visitor(runtime).request("/me", { headers: { cookie } });
    },
  },
  "a user who denies it": {
    emits: [],
    prepare: async () => {
      const { flow } = await askedByApplication();
      return () => flow.act("consent_deny");
    },
  },
  "a registration": {
    emits: ["user.create", created],
    prepare: async () => () => register(runtime),
  },
  "a login": {
    emits: [created, "user.login"],
    prepare: async () => {
      const owner = await register(runtime);
      return () => signIn(runtime, { identifier: owner.email });
    },
  },
  "a login beyond the limit of sessions": {
    emits: ["session.delete.passive.limit", created, "user.login"],
    prepare: async () => {
      const limited = runtime.configured({ STILE_SESSION_LIMIT: "1" });
      const owner = await register(limited);
      return () => signIn(limited, { identifier: owner.email });
    },
  },
  "a rejected password": {
    emits: [],
    prepare: async () => {
      const owner = await register(runtime);
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { identifier: owner.email });
      await flow.act("continue_to_password_login");
      return () => flow.act("password_login", { password: "wrong" });
    },
  },
  "a recovery": {
    emits: [revoked, "user.update.password.update", created, "user.login"],
    prepare: async () => {
      const { email } = await register(runtime);
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { identifier: email });
      await flow.act("continue_to_password_login");
      await flow.act("continue_to_passcode_confirmation_recovery");
      return async () => {
        await flow.act("verify_passcode", { code: codeFor(runtime, email) });
        await flow.act("password_recovery", { new_password: `${password} 3` });
      };
    },
  },
  "the onboarding of a username": {
    emits: ["user.update.username.create", created, "user.login"],
    prepare: async () => {
      const owner = await register(runtime.configured({ STILE_USERNAME_ENABLED: "false" }));
      const asking = runtime.configured({
        STILE_USERNAME_ACQUIRE_ON_LOGIN: "true",
        STILE_USERNAME_OPTIONAL: "false",
      });
      return async () => {
        const flow = await signIn(asking, { identifier: owner.email });
        await flow.act("username_create", { username: newName() });
      };
    },
  },
  "the onboarding of an email": {
    emits: ["user.update.email.create", created, "user.login"],
    prepare: async () => {
      const username = newName();
      await accountOwner(runtime, { emails: 0, username, password: true });
      const asking = runtime.configured({
        STILE_EMAIL_ACQUIRE_ON_LOGIN: "true",
        STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      });
      return async () => {
        const flow = await signIn(asking, { identifier: username });
        await flow.act("email_address_set", { email: newAddress() });
      };
    },
  },
  "the onboarding of an email that is verified": {
    emits: ["user.update.email.create", created, "user.login"],
    prepare: async () => {
      const username = newName();
      await accountOwner(runtime, { emails: 0, username, password: true });
      const email = newAddress();
      return async () => {
        const flow = await signIn(runtime.configured({ STILE_EMAIL_ACQUIRE_ON_LOGIN: "true" }), {
          identifier: username,
        });
        await flow.act("email_address_set", { email });
        await flow.act("verify_passcode", { code: codeFor(runtime, email) });
      };
    },
  },
  "a first sign-in with a provider": {
    emits: ["user.create", created, "user.login"],
    prepare: () => atAcme(acmePerson()),
  },
  "a registration with a provider": {
    emits: ["user.create", created],
    prepare: () => atAcme(acmePerson(), "registration"),
  },
  "a further sign-in with a provider": {
    emits: [created, "user.login"],
    prepare: async () => {
      const facts = acmePerson({ name: "Ada" });
      await (await atAcme(facts))();
      return atAcme(facts);
    },
  },
  "a sign-in with a provider that states another name": {
    emits: ["user.update", created, "user.login"],
    prepare: async () => {
      const facts = acmePerson({ name: "Ada" });
      await (await atAcme(facts))();
      return atAcme({ ...facts, name: "Ada Lovelace" });
    },
  },
  "a first sign-in that a SAML provider starts": {
    emits: ["user.create", created],
    prepare: () => fromStaffProvider(crypto.randomUUID()),
  },
  "a further sign-in that a SAML provider starts": {
    emits: [created],
    prepare: async () => {
      const nameId = crypto.randomUUID();
      await (await fromStaffProvider(nameId))();
      return fromStaffProvider(nameId);
    },
  },
  "an address that its owner verifies elsewhere": {
    emits: ["user.update.email.delete"],
    prepare: async () => {
      const unverified = newAddress();
      await accountOwner(runtime, { unverified });
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { identifier: unverified });
      if (flow.state.name !== "passcode_confirmation") await flow.act("continue_to_passcode_confirmation");
      return () => flow.act("verify_passcode", { code: codeFor(runtime, unverified) });
    },
  },
  "a phone number that its owner verifies elsewhere": {
    emits: ["user.update.phone.delete"],
    prepare: async () => {
      const number = newNumber();
      await accountOwner(runtime, { phone: { number, verified: false } });
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { identifier: number });
      await flow.act("continue_to_phone_confirmation");
      return () => flow.act("verify_passcode", { code: codeBySms(runtime, number) });
    },
  },
  "a new session in place of another one": {
    emits: [loggedOut, created],
    prepare: async () => {
      const owner = await accountOwner(
        runtime,
        { password: true },
        { secondsAgo: 7_200, methods: ["password"] },
      );
      const flow = await owner.manage();
      await flow.act("password_delete");
      await flow.act("continue_to_password_login");
      return () => flow.act("password_login", { password });
    },
  },
  "another login in the same browser": {
    emits: [created, "user.login", loggedOut],
    prepare: async () => (await browser(visitor(runtime))).login,
  },
  "a log-out": {
    emits: [loggedOut],
    prepare: async () => {
      const { guest } = await browser(visitor(runtime));
      return () => guest.post("/logout");
    },
  },
  "a session that is found idle": {
    emits: ["session.delete.passive.expire"],
    prepare: async () => {
      const { guest } = await browser(visitor(runtime));
      const past = new Date(Date.now() - 3_600_000);
      await runtime.database.write.update(schema.sessions).set({ lastUsedAt: past });
      const limited = visitor(runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" }));
      for (const [name, value] of guest.cookies) limited.cookies.set(name, value);
      return async () => {
        await limited.request("/me");
        await limited.request("/me");
      };
    },
  },
  "the purge of an idle session": {
    emits: ["session.delete.passive.expire"],
    prepare: async () => {
      await runtime.database.write.delete(schema.sessions);
      await accountOwner(runtime);
      const past = new Date(Date.now() - 3_600_000);
      await runtime.database.write.update(schema.sessions).set({ lastUsedAt: past });
      const limited = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
      return () => Promise.all([limited.purgeExpired(), limited.purgeExpired()]);
    },
  },
  "a mail": {
    emits: ["email.send"],
    prepare: async () => {
      const { tenant, tenants, vault, database, rates, log, enqueued } = runtime;
      const mail = createTenantMail(tenant, database);
      const kind = sendMail({
        tenants,
        vault,
        mail,
        rates,
        publish: messageEvents(runtime, "mail"),
        records: messageRecords(runtime, "mail", log),
        log,
      });
      const flow = await begin(runtime, "registration", {});
      await flow.act("register_login_identifier", { email: newAddress(), username: newName() });
      const job = enqueued.at(-1);
      if (!job) throw new Error("nothing was mailed");
      const id = runtime.platform.uuid();
      const attempt = testAttempt({ id });
      return () => kind.run(kind.store(job, id), attempt);
    },
  },
  "an SMS": {
    emits: ["sms.send"],
    prepare: async () => {
      const { tenant, tenants, vault, database, log } = runtime;
      const kind = sendSms({
        tenants,
        vault,
        publish: messageEvents(runtime, "sms"),
        records: messageRecords(runtime, "sms", log),
        database,
      });
      const id = runtime.platform.uuid();
      const stored = kind.store(
        {
          name: "send_sms",
          tenantId: tenant.id,
          to: "+4915112345678",
          language: "en",
          sms: { type: "sms_login", code: "048213", ttlSeconds: 300, host: "login.example.com" },
        },
        id,
      );
      return () => kind.run(stored, testAttempt({ id }));
    },
  },
};

/** A call of the operator about a user with a session. `path` and `body` are made from the user. */
const called =
  (
    method: string,
    path: (owner: Owner, user: Shown) => string,
    body?: (owner: Owner) => unknown,
    has: () => AccountContents = () => ({}),
  ): Prepare =>
  async () => {
    const owner = await accountOwner(runtime, has());
    const { body: user } = await operator.call("GET", `/users/${owner.userId}`);
    return async () => {
      const { status, text } = await operator.call(method, path(owner, user), body?.(owner));
      if (status >= 300) throw new Error(`${status} ${text}`);
    };
  };

const users = "/admin/users/{id}";
const below = (path: string) => (owner: Owner) => `/users/${owner.userId}${path}`;
const second = (path: string) => (owner: Owner, user: Shown) =>
  `/users/${owner.userId}/emails/${secondaryOf(user)}${path}`;

/** Calls of the administration API that change users, by their addresses. One that is missing here fails a test. */
const adminCalls: Record<string, Operation> = {
  "POST /admin/users": {
    emits: ["user.create"],
    prepare: called(
      "POST",
      () => "/users",
      () => ({ emails: [{ address: newAddress(), is_primary: true, is_verified: true }] }),
    ),
  },
  "POST /admin/users/bulk": {
    emits: ["session.delete.admin.revoke", "user.update"],
    prepare: called(
      "POST",
      () => "/users/bulk",
      ({ userId }) => ({ action: "block", user_ids: [userId] }),
    ),
  },
  [`PATCH ${users}`]: {
    emits: ["user.update.username.create", "user.update"],
    prepare: called("PATCH", below(""), () => ({ username: newName(), name: "Ada" })),
  },
  [`DELETE ${users}`]: { emits: ["user.delete"], prepare: called("DELETE", below("")) },
  [`POST ${users}/block`]: {
    emits: ["session.delete.admin.revoke", "user.update"],
    prepare: called("POST", below("/block")),
  },
  [`POST ${users}/unblock`]: {
    emits: ["user.update"],
    prepare: async () => {
      const { userId } = await accountOwner(runtime);
      await operator.call("POST", `/users/${userId}/block`);
      return () => operator.call("POST", `/users/${userId}/unblock`);
    },
  },
  [`POST ${users}/emails`]: {
    emits: ["user.update.email.create"],
    prepare: called("POST", below("/emails"), () => ({
      address: newAddress(),
      is_primary: false,
      is_verified: true,
    })),
  },
  [`DELETE ${users}/emails/{email_id}`]: {
    emits: ["user.update.email.delete"],
    prepare: called("DELETE", second(""), undefined, () => ({ emails: 2 })),
  },
  [`POST ${users}/emails/{email_id}/set_primary`]: {
    emits: ["user.update.email.primary"],
    prepare: called("POST", second("/set_primary"), undefined, () => ({ emails: 2 })),
  },
  [`POST ${users}/emails/{email_id}/verify`]: {
    emits: [],
    prepare: called("POST", second("/verify"), undefined, () => ({ emails: 2 })),
  },
  [`DELETE ${users}/applications/{client_id}`]: {
    emits: ["oauth.grant.revoke"],
    prepare: async () => {
      const { userId } = await accountOwner(runtime);
      await runtime.database.write.insert(schema.openidConsents).values({
        tenantId: runtime.tenant.id,
        userId,
        clientId: "shop",
        allowed: { scopes: ["openid"], claims: [], resources: {} },
      });
      return () => operator.call("DELETE", `/users/${userId}/applications/shop`);
    },
  },
  [`PUT ${users}/username`]: {
    emits: ["user.update.username.update"],
    prepare: called(
      "PUT",
      below("/username"),
      () => ({ username: newName() }),
      () => ({ username: newName() }),
    ),
  },
  [`PUT ${users}/phone_number`]: {
    emits: ["user.update.phone.create"],
    prepare: called("PUT", below("/phone_number"), () => ({ phone_number: newNumber() })),
  },
  [`DELETE ${users}/phone_number`]: {
    emits: ["user.update.phone.delete"],
    prepare: called("DELETE", below("/phone_number"), undefined, () => ({ phone: { number: newNumber() } })),
  },
  [`DELETE ${users}/username`]: {
    emits: ["user.update.username.delete"],
    prepare: called("DELETE", below("/username"), undefined, () => ({ username: newName() })),
  },
  [`PATCH ${users}/metadata`]: {
    emits: ["user.update"],
    prepare: called("PATCH", below("/metadata"), () => ({ public_metadata: { plan: "gold" } })),
  },
  [`POST ${users}/password`]: {
    emits: [],
    prepare: called("POST", below("/password"), () => ({ password })),
  },
  [`PUT ${users}/password`]: {
    emits: [],
    prepare: called(
      "PUT",
      below("/password"),
      () => ({ password }),
      () => ({ password: true }),
    ),
  },
  [`DELETE ${users}/password`]: {
    emits: [],
    prepare: called("DELETE", below("/password"), undefined, () => ({ password: true })),
  },
  "POST /admin/sessions": {
    emits: ["session.create.admin"],
    prepare: called(
      "POST",
      () => "/sessions",
      ({ userId }) => ({ user_id: userId }),
    ),
  },
  [`DELETE ${users}/sessions`]: {
    emits: ["session.delete.admin.revoke"],
    prepare: called("DELETE", below("/sessions")),
  },
  [`DELETE ${users}/sessions/{session_id}`]: {
    emits: ["session.delete.admin.revoke"],
    prepare: called("DELETE", ({ userId, sessionId }) => `/users/${userId}/sessions/${sessionId}`),
  },
};

/** Addresses of the administration API that change credentials or send a mail, which are no events of users. */
const silentAddresses =
  /\/(webauthn_credentials|otp|recovery_codes|trusted_browsers|phones|identities|recovery|console_role|impersonations)\b/;

/** An operator signs in as a user, in two steps: the console grants it, and the browser takes it up. */
async function impersonation(): Promise<() => Promise<unknown>> {
  const [operator, owner] = await Promise.all([consoleAccount(runtime, "operator"), accountOwner(runtime)]);
  const { userId } = owner;
  const context = { ...requestContext(runtime), runtime };
  const visitor = await findConsoleVisitor(runtime, operator.browser.cookies.get("stile-console") ?? "");
  const verdict = await grantImpersonation(context, visitor ?? undefined, { userId, reason: "Ticket 4711" });
  if (!verdict.ok) throw new Error(verdict.message);
  return () => beginImpersonation(context, verdict.granted);
}

operations["the sign-in of an operator as a user"] = {
  emits: ["session.create.admin", "user.impersonate"],
  prepare: impersonation,
};

Object.assign(operations, adminCalls);
for (const [action, operation] of Object.entries(profileActions))
  operations[`the action ${action}`] = operation;

async function last(): Promise<number> {
  return (await storedEvents(runtime)).at(-1)?.sequence ?? 0;
}

/** Data of an event, unsealed. */
function dataOf({ id, data, sealedData }: StoredEvent): unknown {
  if (!sealedData) return data;
  return JSON.parse(runtime.vault.unseal(sealedData, eventDataContext(runtime.tenant.id, id)).toString());
}

describe("every operation emits what the list says", () => {
  it.each(Object.entries(operations))("%s", async (_, { emits, prepare }) => {
    const perform = await prepare();
    const before = await last();

    await perform();

    const emitted = await storedEvents(runtime, before);
    expect(emitted.map(({ name }) => name)).toEqual(emits);
    for (const event of emitted) {
      const data = dataOf(event);
      expect(events[event.name as EventName].data.parse(data)).toEqual(data);
      // A86: neither a password nor a code is in any event but that of its mail or SMS.
      if (!["email.send", "sms.send"].includes(event.name))
        expect(JSON.stringify(data)).not.toMatch(/otp_code|hash|secret|token/);
    }
  });

  test("the list has no event that no operation emits", () => {
    const performed = new Set(Object.values(operations).flatMap(({ emits }) => emits));
    expect(emittedEventNames.filter((name) => !performed.has(name))).toEqual([]);
  });

  test("no address of the administration API that changes users is missing", () => {
    const changing = adminAddresses
      .filter(({ method, path }) => method !== "GET" && /^\/admin\/(users|sessions)\b/.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const missing = changing.filter((address) => !silentAddresses.test(address) && !adminCalls[address]);
    expect(missing).toEqual([]);
    expect(Object.keys(adminCalls).filter((address) => !changing.includes(address))).toEqual([]);
  });

  test("no action of the account page is missing", () => {
    const own = Object.keys(states.profile_init.actions);
    expect([...Object.keys(profileActions), ...silentActions].toSorted()).toEqual(own.toSorted());
  });
});

test("a login takes no further round trip for any number of webhooks", async () => {
  const { email } = await register(runtime);
  const statementsOfOne = async () => {
    const query = vi.spyOn(pg.Client.prototype, "query");
    const flow = await signIn(runtime, { identifier: email });
    const { length } = query.mock.calls;
    query.mockRestore();
    expect(flow.state.name).toBe("success");
    return length;
  };
  /** Of several logins, because what is recorded of one may be written during the next. */
  const statementsOf = async () => {
    const lengths = [];
    for (let login = 0; login < 5; login += 1) lengths.push(await statementsOfOne());
    return Math.min(...lengths);
  };
  await runtime.database.write.delete(schema.webhooks);
  await statementsOfOne();
  const without = await statementsOf();
  for (const _ of Array(5)) await storeWebhook(runtime);
  expect(await statementsOf()).toBe(without);
});
