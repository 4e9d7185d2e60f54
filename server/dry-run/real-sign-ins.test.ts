import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { ConfigError } from "../config/errors.ts";
import { identificationBy } from "../flow/actions/continue-with-login-identifier.ts";
import { accountOwner } from "../testing/account-owner.ts";
import type { Walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { codeFor, newName, origin, password, people } from "../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../testing/provider-people.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import { dryRun, listAffected } from "./dry-run.ts";
import type { Effect } from "./effects.ts";

/** What a dry run tells is compared with real attempts to sign in, by every method that an account has. */

const runtime = await runtimeForTests({
  ...acme(),
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "true",
  // Nothing else is asked for between the first factor and the second.
  STILE_EMAIL_ACQUIRE_ON_LOGIN: "false",
  STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
  STILE_PASSKEY_ACQUIRE_ON_LOGIN: "never",
  STILE_PASSWORD_ACQUIRE_ON_LOGIN: "never",
});
const { database, tenant } = runtime;
const { begin, register } = people();

interface Account {
  userId: string;
  email?: string;
  username?: string;
  password?: true;
  authenticator?: ReturnType<typeof softwareAuthenticator>;
  subject?: string;
}

/** Signs in with a method, as far as the settings let it go. */
type Way = (runtime: TestRuntime, account: Account) => Promise<Walk | null>;

const withIdentifier =
  (choose: string, prove: (flow: Walk, account: Account, runtime: TestRuntime) => Promise<unknown>): Way =>
  async (as, account) => {
    for (const identifier of [account.email, account.username]) {
      if (identifier === undefined) continue;
      const flow = await begin(as, "login");
      if (!flow.state.actions.continue_with_login_identifier) return null;
      await flow.act("continue_with_login_identifier", identificationBy(identifier, as.tenant.config));
      if (flow.state.error) continue;
      if (flow.state.actions[choose]) await flow.act(choose);
      await prove(flow, account, as);
      if (hasProved(flow)) return flow;
    }
    return null;
  };

/** The states that are reached when no factor is verified yet. */
const unproved = [
  "login_init",
  "login_method_chooser",
  "login_password",
  "passcode_confirmation",
  "thirdparty",
  "error",
];

const hasProved = (flow: Walk) => !unproved.includes(flow.state.name) && !flow.state.error;

const ways: Record<string, Way> = {
  password: withIdentifier("continue_to_password_login", async (flow, account) => {
    if (account.password && flow.state.actions.password_login) await flow.act("password_login", { password });
  }),
  code: withIdentifier("continue_to_passcode_confirmation", async (flow, { email }, as) => {
    if (email && flow.state.name === "passcode_confirmation")
      await flow.act("verify_passcode", { code: codeFor(as, email) });
  }),
  async passkey(as, { authenticator }) {
    const flow = await begin(as, "login");
    if (!authenticator || !flow.state.actions.webauthn_generate_request_options) return null;
    const { payload } = await flow.act("webauthn_generate_request_options");
    const assertion_response = authenticator.get(payload.request_options, { origin });
    await flow.act("webauthn_verify_assertion_response", { assertion_response });
    return hasProved(flow) ? flow : null;
  },
  async provider(as, { subject }) {
    const flow = await begin(as, "login");
    if (subject === undefined || !flow.state.actions.thirdparty_oauth) return null;
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: `${origin}/` });
    if (flow.state.name !== "thirdparty") return null;
    const facts = acmePerson({ subject });
    await flow.act("exchange_token", { token: await returnFromProvider(as, { flowId: flow.flowId, facts }) });
    return hasProved(flow) ? flow : null;
  },
};

/** Tries every way. @returns whether one leads in, and whether one asks for a second factor */
async function attempt(as: TestRuntime, account: Account) {
  const flows = [];
  for (const way of Object.values(ways)) flows.push(await way(as, account));
  const proved = flows.flatMap((flow) => flow?.state.name ?? []);
  return {
    signsIn: proved.length > 0,
    secondFactor: proved.includes("login_otp"),
    setUp: proved.includes("mfa_method_chooser"),
  };
}

const own = (userId: string) => ({ tenantId: tenant.id, userId });

async function withPasskey(): Promise<Account> {
  const authenticator = softwareAuthenticator();
  const registering = runtime.configured({ STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always" });
  const { email } = await register(registering, { authenticator });
  const [found] = await database.read
    .select({ userId: schema.emails.userId })
    .from(schema.emails)
    .where(and(eq(schema.emails.tenantId, tenant.id), eq(schema.emails.address, email)));
  if (!found) throw new Error("there is no user with a passkey");
  const { userId } = found;
  await database.write.delete(schema.emails).where(eq(schema.emails.userId, userId));
  await database.write.delete(schema.passwords).where(eq(schema.passwords.userId, userId));
  return { userId, authenticator };
}

async function withProvider(): Promise<Account> {
  const subject = randomUUID();
  const { userId } = await accountOwner(runtime, { emails: 0 });
  await database.write
    .insert(schema.identities)
    .values({ ...own(userId), id: randomUUID(), provider: "custom_acme", subject });
  return { userId, subject };
}

async function withNames(has: {
  emails: number;
  named: boolean;
  password?: true;
  totp?: true;
}): Promise<Account> {
  const username = has.named ? newName() : undefined;
  const owner = await accountOwner(runtime, { ...has, ...(username ? { username } : {}) });
  const [email] = owner.addresses;
  return {
    userId: owner.userId,
    ...(email ? { email } : {}),
    ...(username ? { username } : {}),
    ...(has.password ? { password: true } : {}),
  };
}

const accounts = [
  await withPasskey(),
  await withProvider(),
  await withNames({ emails: 1, named: false }),
  await withNames({ emails: 1, named: false, password: true }),
  await withNames({ emails: 0, named: true, password: true }),
  await withNames({ emails: 1, named: true, password: true, totp: true }),
  await withNames({ emails: 0, named: true }),
];

const flag = fc.boolean().map(String);

const settings = fc.record({
  STILE_PASSWORD_ENABLED: flag,
  STILE_PASSKEY_ENABLED: flag,
  STILE_EMAIL_USE_FOR_AUTHENTICATION: flag,
  STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: flag,
  STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: flag,
  STILE_MFA_ENABLED: flag,
  STILE_MFA_TOTP_ENABLED: flag,
  STILE_MFA_OPTIONAL: flag,
  acme: fc.boolean(),
});

/** The ids of the users with each effect. */
async function affected(former: TestRuntime, changed: TestRuntime) {
  const change = { tenantId: tenant.id, former: former.config, changed: changed.config };
  const { effects } = await dryRun(database.read, change);
  const ids = {} as Record<Effect, Set<string>>;
  for (const [effect, groups] of Object.entries(effects)) {
    const found = new Set<string>();
    ids[effect as Effect] = found;
    const keys = groups.flatMap((group) => group.keys);
    if (keys.length > 0)
      for await (const users of listAffected(database.read, change, keys))
        for (const { id } of users) found.add(id);
  }
  return ids;
}

test("a dry run tells what real sign-ins show before and after a change, of random settings and accounts", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(settings, settings, async (before, after) => {
      const [former, changed] = [before, after].map(({ acme: enabled, ...variables }) => {
        try {
          return runtime.configured({ ...variables, ...acme({ enabled }) });
        } catch (error) {
          if (error instanceof ConfigError) return null;
          throw error;
        }
      });
      if (!former || !changed) return;
      const told = await affected(former, changed);
      for (const account of accounts) {
        const [was, is] = [await attempt(former, account), await attempt(changed, account)];
        const has = (effect: Effect) => told[effect].has(account.userId);
        expect({
          account: accounts.indexOf(account),
          locked_out: has("locked_out"),
          locked_out_before: has("locked_out_before"),
          regains_access: has("regains_access"),
        }).toEqual({
          account: accounts.indexOf(account),
          locked_out: was.signsIn && !is.signsIn,
          locked_out_before: !was.signsIn && !is.signsIn,
          regains_access: !was.signsIn && is.signsIn,
        });
        if (was.signsIn && is.signsIn) {
          // Nothing is told of a method that a user can sign in with under one of both alone.
          if (has("second_factor_asked")) expect(is.secondFactor).toBe(true);
          if (has("second_factor_not_asked")) expect(was.secondFactor).toBe(true);
          if (has("set_up_asked")) expect(is.setUp).toBe(true);
          if (has("set_up_not_asked")) expect(was.setUp).toBe(true);
        }
        compared++;
      }
    }),
    { numRuns: 20 },
  );
  expect(compared).toBeGreaterThan(0);
});

test("a dry run tells who is asked for a second factor when all else stays", async () => {
  for (const change of [
    { STILE_MFA_ENABLED: "false" },
    { STILE_MFA_TOTP_ENABLED: "false" },
    { STILE_MFA_OPTIONAL: "false" },
  ]) {
    const changed = runtime.configured(change);
    for (const [former, later] of [
      [runtime, changed],
      [changed, runtime],
    ] as const) {
      const told = await affected(former, later);
      for (const account of accounts) {
        const [was, is] = [await attempt(former, account), await attempt(later, account)];
        const has = (effect: Effect) => told[effect].has(account.userId);
        expect({
          second_factor_asked: has("second_factor_asked"),
          second_factor_not_asked: has("second_factor_not_asked"),
          set_up_asked: has("set_up_asked"),
          set_up_not_asked: has("set_up_not_asked"),
        }).toEqual({
          second_factor_asked: is.secondFactor && !was.secondFactor,
          second_factor_not_asked: was.secondFactor && !is.secondFactor,
          set_up_asked: is.setUp && !was.setUp,
          set_up_not_asked: was.setUp && !is.setUp,
        });
      }
    }
  }
});
