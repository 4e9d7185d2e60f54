import { randomBytes, randomUUID } from "node:crypto";
import { eq, getTableColumns, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import { identifierKinds } from "../identity/identifiers.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { newName, newNumber } from "../testing/people.ts";
import { userWithEverything } from "../testing/user-with-everything.ts";
import { insertUser } from "../testing/users.ts";
import { dryRun, listAffected } from "./dry-run.ts";
import type { Effect } from "./effects.ts";
import { lockedOutAmong } from "./locked-out.ts";
import { factsOf, usersById } from "./users-by-facts.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "stile",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "a secret for tests alone",
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "true",
});
const { database, tenant } = runtime;

const withPassword = await accountOwner(runtime, { emails: 0, username: "ada", password: true });
const withPasskey = await accountOwner(runtime, { emails: 0, username: "grace", passkeys: 1 });
const withProvider = await accountOwner(runtime, { emails: 0, username: "joan", identities: ["github"] });
const withAddress = await accountOwner(runtime);
const withApp = await accountOwner(runtime, { emails: 0, username: "hedy", password: true, totp: true });
const blocked = await accountOwner(runtime, { emails: 0, username: "mary", passkeys: 1 });
await database.write
  .update(schema.users)
  .set({ blockedAt: new Date() })
  .where(eq(schema.users.id, blocked.userId));

function changed(change: (config: Config) => void, former = tenant.config) {
  const config = structuredClone(former);
  change(config);
  return { tenantId: tenant.id, former, changed: config };
}

/** The users of each effect of a change, by its examples. */
async function effectsOf(change: (config: Config) => void, before?: (config: Config) => void) {
  const former = structuredClone(tenant.config);
  before?.(former);
  const found = await dryRun(database.read, changed(change, former));
  return Object.fromEntries(
    Object.entries(found.effects)
      .filter(([, groups]) => groups.length > 0)
      .map(([effect, groups]) => [effect, groups.flatMap(({ examples }) => examples).toSorted()]),
  ) as Partial<Record<Effect, string[]>>;
}

const noPasskeys = (config: Config) => {
  config.passkey.enabled = false;
};

describe("a change of settings", () => {
  test("that changes nothing has no effect, and blocked users are not judged", async () => {
    const found = await dryRun(
      database.read,
      changed(() => {}),
    );
    expect(found.users).toBe(5);
    expect(Object.values(found.effects).flat()).toEqual([]);
    expect(found.flows).toEqual([]);
  });

  test("locks out the users whose only method it switches off, and tells what decides it", async () => {
    const { effects } = await dryRun(database.read, changed(noPasskeys));
    expect(effects.locked_out).toMatchObject([{ count: 1, examples: [withPasskey.userId] }]);
    expect(effects.locked_out[0]?.reasons).toEqual(
      expect.arrayContaining(["`passkey.enabled` is off.", "The account has no password."]),
    );
  });

  test("is not blamed for those who could not sign in before", async () => {
    const former = structuredClone(tenant.config);
    noPasskeys(former);
    const { effects } = await dryRun(
      database.read,
      changed((config) => {
        config.password.enabled = false;
      }, former),
    );
    expect(effects.locked_out.flatMap(({ examples }) => examples).toSorted()).toEqual(
      [withPassword.userId, withApp.userId].toSorted(),
    );
    expect(effects.locked_out_before).toMatchObject([{ count: 1, examples: [withPasskey.userId] }]);
  });

  test("lets users in again", async () => {
    expect(
      await effectsOf((config) => Object.assign(config, { passkey: tenant.config.passkey }), noPasskeys),
    ).toEqual({ regains_access: [withPasskey.userId] });
  });

  test("lets all users in who can sign in, of a tenant whose settings were invalid", async () => {
    const { effects } = await dryRun(database.read, { ...changed(noPasskeys), former: null });
    expect(effects.regains_access.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    expect(effects.locked_out_before).toMatchObject([{ examples: [withPasskey.userId] }]);
  });

  test("locks out users whose identity is at a provider that it disables", async () => {
    expect(
      await effectsOf((config) => {
        config.third_party.providers.github.enabled = false;
      }),
    ).toEqual({ locked_out: [withProvider.userId] });
  });

  test("locks out users with a password who have no identifier that is enabled", async () => {
    const { effects } = await dryRun(
      database.read,
      changed((config) => {
        config.username.use_as_login_identifier = false;
      }),
    );
    expect(effects.locked_out).toHaveLength(1);
    expect(effects.locked_out[0]?.reasons).toContain(
      "The account has no identifier that is enabled for signing in.",
    );
  });

  test("tells the largest group first", async () => {
    const { effects } = await dryRun(
      database.read,
      changed((config) => {
        config.passkey.enabled = false;
        config.email.use_for_authentication = false;
        config.password.enabled = false;
        config.third_party.providers.github.enabled = false;
      }),
    );
    const counts = effects.locked_out.map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    expect(counts).toEqual(counts.toSorted((one, other) => other - one));
  });

  test("asks for a second factor, or no longer does", async () => {
    const off = (config: Config) => {
      config.mfa.enabled = false;
    };
    expect((await effectsOf(off)).second_factor_not_asked).toEqual([withApp.userId]);
    expect((await effectsOf(() => {}, off)).second_factor_not_asked).toBeUndefined();
    const asked = await effectsOf((config) => {
      config.mfa.enabled = true;
    }, off);
    expect(asked.second_factor_asked).toEqual([withApp.userId]);
  });

  test("asks users who sign in with a single factor to set up a second one", async () => {
    const found = await effectsOf((config) => {
      config.mfa.optional = false;
    });
    // A passkey is two factors, and an authenticator app is set up.
    expect(found).toEqual({
      set_up_asked: [withPassword.userId, withProvider.userId, withAddress.userId].toSorted(),
    });
  });
});

describe("flows under way", () => {
  test("that a change leaves without a way on, or takes an action from, are told by state", async () => {
    const flow = await walk(runtime, "login");
    await flow.act("register_client_capabilities", {
      webauthn_available: false,
      webauthn_conditional_mediation_available: false,
      webauthn_platform_authenticator_available: false,
    });
    await flow.act("continue_with_login_identifier", { identifier: "ada" });
    await flow.act("continue_to_password_login");
    expect(flow.state.name).toBe("login_password");
    const other = await walk(runtime, "login");
    await other.act("register_client_capabilities", {
      webauthn_available: true,
      webauthn_conditional_mediation_available: false,
      webauthn_platform_authenticator_available: false,
    });
    const { flows } = await dryRun(
      database.read,
      changed((config) => {
        config.password.enabled = false;
        config.third_party.providers.github.enabled = false;
      }),
    );
    expect(flows).toEqual([
      expect.objectContaining({
        type: "login",
        state: "login_init",
        ends: false,
        count: 1,
        withdrawn: [{ action: "thirdparty_oauth", reasons: ["No identity provider is enabled."] }],
      }),
      expect.objectContaining({
        type: "login",
        state: "login_password",
        count: 1,
        withdrawn: expect.arrayContaining([
          { action: "password_login", reasons: ["`password.enabled` is off."] },
        ]),
      }),
    ]);
    const strict = structuredClone(runtime.config);
    strict.password.enabled = false;
    const later = { ...runtime, tenant: { ...tenant, config: strict } };
    await expect(
      flow.act("password_login", { password: "correct horse battery" }, { runtime: later }),
    ).resolves.toMatchObject({ name: "error", status: 403 });
  });
});

describe("users by their facts", () => {
  test("have the facts by which flows decide", async () => {
    await userWithEverything(runtime);
    const accounts = [
      { unverified: `${randomUUID()}@example.com` },
      { emails: 0, unverified: `${randomUUID()}@example.com`, securityKeys: 1 },
      { emails: 0, phone: { number: newNumber(), verified: false as const } },
      { emails: 0, phones: 1, recoveryCodes: true as const },
      {
        username: newName(),
        phone: { number: newNumber() },
        totp: true as const,
        identities: ["custom_gone"],
      },
    ];
    for (const has of accounts) await accountOwner(runtime, has);
    // Applications name users of their own as they like.
    await database.write.execute(
      sql`insert into authenticator_devices select ${sql.join(
        Object.entries(getTableColumns(schema.authenticatorDevices)).map(([name, column]) =>
          name === "userId"
            ? sql`'a user'`
            : name === "id"
              ? sql`${randomUUID()}::uuid`
              : name === "keyId"
                ? sql`${randomBytes(8)}::bytea`
                : sql`${column}`,
        ),
        sql`, `,
      )} from authenticator_devices limit 1`,
    );
    const expected = await database.read
      .select()
      .from(schema.userFacts)
      .where(eq(schema.userFacts.tenantId, tenant.id));
    const all = { former: ["github", "google", "custom_gone"], changed: [] };
    const found = await usersById(
      database.read,
      tenant.id,
      all,
      expected.map(({ userId }) => userId),
    );
    expect(found).toHaveLength(expected.filter((user) => !user.blocked).length);
    for (const { id, key, email, username, phone } of found) {
      const user = expected.find(({ userId }) => userId === id);
      expect({ email, username, phone }).toEqual({
        email: user?.email,
        username: user?.username,
        phone: user?.phone,
      });
      const facts = factsOf(key, "former");
      const named = Object.fromEntries(
        identifierKinds.map((kind) => [kind, user?.[kind] == null ? null : ""]),
      );
      expect({ id, ...user, ...facts }).toEqual({ id, ...user, ...named });
      expect(factsOf(key, "changed")).toEqual({ ...facts, hasIdentity: false });
    }
  });

  test("are listed by group, those who are named are found to be locked out, and other tenants have none", async () => {
    const change = changed(noPasskeys);
    const { effects } = await dryRun(database.read, change);
    const keys = effects.locked_out.flatMap((group) => group.keys);
    const listed = [];
    for await (const users of listAffected(database.read, change, keys)) listed.push(...users);
    expect(listed).toEqual([{ id: withPasskey.userId, email: null, username: "grace", phone: null }]);
    const named = [withPasskey.userId, withPassword.userId, blocked.userId, randomUUID()];
    expect(await lockedOutAmong(database.read, change, named)).toEqual([withPasskey.userId]);
    const elsewhere = { ...change, tenantId: randomUUID() };
    expect(await dryRun(database.read, elsewhere)).toMatchObject({ users: 0, judged: 0 });
    expect(await lockedOutAmong(database.read, elsewhere, named)).toEqual([]);
  });

  test("are judged once for all who have the same facts, in parts of a hundred thousand accounts", async () => {
    const before = await dryRun(database.read, changed(noPasskeys));
    const id = sql`overlay(overlay(md5('many ' || i) placing '4' from 13) placing 'a' from 17)::uuid`;
    await database.write.execute(sql`insert into users (tenant_id, id, blocked_at)
      select ${tenant.id}, ${id}, case when i % 1000 = 0 then now() end from generate_series(1, 100100) i`);
    await database.write.execute(sql`insert into usernames (tenant_id, id, user_id, username)
      select ${tenant.id}, ${id}, ${id}, 'many' || i from generate_series(1, 100100) i`);
    await database.write.execute(sql`insert into passwords (tenant_id, user_id, hash)
      select ${tenant.id}, ${id}, '' from generate_series(1, 100100) i where i % 2 = 0`);
    const progress: number[] = [];
    const many = await dryRun(database.read, changed(noPasskeys), {
      onProgress: (users) => progress.push(users),
    });
    expect(many.users).toBe(before.users + 100_000);
    // One group is new: those who have a username alone. Those with a password too have the facts of an earlier user.
    expect(many.judged).toBe(before.judged + 1);
    expect(progress).toHaveLength(2);
    expect(progress.at(-1)).toBe(many.users);
    const change = changed((config) => {
      config.password.enabled = false;
    });
    const { effects } = await dryRun(database.read, change);
    const [largest] = effects.locked_out;
    const ids = new Set<string>();
    for await (const users of listAffected(database.read, change, largest?.keys ?? []))
      for (const user of users) ids.add(user.id);
    expect(ids.size).toBe(largest?.count);
    expect(largest?.count).toBeGreaterThanOrEqual(50_000 - 100);
  });
});

test("a user without anything is counted among those who cannot sign in", async () => {
  await insertUser(runtime);
  const { effects } = await dryRun(
    database.read,
    changed(() => {}),
  );
  expect(effects.locked_out).toEqual([]);
  expect(effects.locked_out_before.length).toBeGreaterThan(0);
});
