import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { createEmail, removeEmail, setPrimaryEmail } from "../identity/email/emails.ts";
import { createUsername, removeUsername, replaceUsername } from "../identity/username/usernames.ts";
import { createUser } from "../identity/users.ts";
import { endSessionOf } from "../sessions/session-list.ts";
import { issueSession } from "../sessions/sessions.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { commitWrites } from "../testing/writes.ts";
import { accountOf, profilePayload, requireAccount } from "./account.ts";
import { deleteAccount } from "./deletion.ts";
import { removeIdentity } from "./linked-identities.ts";

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });

const contextAt = (now = new Date()) => requestContext(runtime, { now });

/** Runs writes in order, in one transaction. */
const write = (...writes: Write[]) => commitWrites(runtime, ...writes);

async function person(address = `${randomUUID()}@example.com`): Promise<string> {
  const id = randomUUID();
  const { platform, tenant } = runtime;
  const identifiers = { email: { value: address, verifiedAt: new Date() } };
  await write((tx) => createUser(tx, tenant.id, { id, identifiers, now: new Date(), platform }));
  return id;
}

async function session(userId: string, now = new Date()): Promise<string> {
  const made = await issueSession(contextAt(now), { userId, factors: [], amr: [], rememberMe: false });
  await write(made.write);
  return made.issued.id;
}

const read = (userId: string, now = new Date(), { tenant } = runtime) =>
  accountOf(runtime.database.read, tenant, userId, now);

const addresses = async (userId: string) =>
  (await read(userId))?.profile.emails?.map(({ address, is_primary }) => [address, is_primary]);

const emailId = async (userId: string, address: string) =>
  (await read(userId))?.profile.emails?.find((email) => email.address === address)?.id ?? "";

describe("accountOf", () => {
  it("returns the live sessions, newest first, and whether there is a password", async () => {
    const id = await person();
    const hour = 3_600_000;
    const past = await session(id, new Date(Date.now() - 24 * hour));
    const older = await session(id, new Date(Date.now() - hour));
    const newer = await session(id);
    const account = await read(id);
    expect(account?.sessions.map((one) => one.id)).toEqual([newer, older]);
    expect(account?.sessions.map((one) => one.id)).not.toContain(past);
    expect(account?.has.hasPassword).toBe(false);
    await write(async (tx) => {
      await tx.insert(schema.passwords).values({ tenantId: runtime.tenant.id, userId: id, hash: "x" });
    });
    expect(await read(id)).toMatchObject({ has: { hasPassword: true }, profile: { id } });
  });

  it("leaves out a session that exceeded the idle timeout", async () => {
    const id = await person();
    await session(id, new Date(Date.now() - 120_000));
    const strict = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "60s" });
    expect((await read(id, new Date(), strict))?.sessions).toEqual([]);
    expect((await read(id))?.sessions).toHaveLength(1);
  });

  it("A68 returns null for an unknown user, and for one of another tenant", async () => {
    const id = await person();
    expect(await read(randomUUID())).toBeNull();
    const elsewhere = { ...runtime, tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await read(id, new Date(), elsewhere)).toBeNull();
  });

  it("is converted with its sessions to the payload of profile_init", async () => {
    const id = await person();
    const [current, other] = [await session(id), await session(id)];
    const account = await read(id);
    if (!account) throw new Error("the account does not exist");
    const { config } = runtime;
    const shown = profilePayload(account, { config, currentSessionId: current });
    expect(shown.user).toBe(account.profile);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const item = {
      user_agent_raw: "Test/1.0",
      user_agent: "Unknown",
      ip_address: "192.0.2.1",
      created_at: time,
      expires_at: time,
      last_used: time,
    };
    expect(shown.sessions).toHaveLength(2);
    expect(shown.sessions).toEqual(
      expect.arrayContaining([
        { id: current, current: true, ...item },
        { id: other, current: false, ...item },
      ]),
    );
    const quiet = runtime.configured({ STILE_SESSION_SHOW_ON_PROFILE: "false" });
    expect(profilePayload(account, { config: quiet.config, currentSessionId: current })).not.toHaveProperty(
      "sessions",
    );
  });

  it("does not let another account end its sessions", async () => {
    const [id, other] = [await person(), await person()];
    const own = await session(id);
    await write(endSessionOf(contextAt(), other, own, "session.delete.explicit.revoke"));
    expect((await read(id))?.sessions).toHaveLength(1);
    await write(endSessionOf(contextAt(), id, own, "session.delete.explicit.revoke"));
    expect((await read(id))?.sessions).toEqual([]);
  });
});

describe("requireAccount", () => {
  it("rejects if the precondition fails or the account does not exist", async () => {
    const id = await person();
    await write(requireAccount(contextAt(), id, ({ profile }) => profile.emails?.length === 1));
    await expect(write(requireAccount(contextAt(), id, () => false))).rejects.toThrow("conflict: account");
    await expect(write(requireAccount(contextAt(), randomUUID(), () => true))).rejects.toThrow("user");
  });

  it("A30 lets one of two concurrent removals succeed if each relies on what the other removes", async () => {
    const id = await person("one@example.com");
    await write(
      createEmail(contextAt(), id, { address: "two@example.com", isPrimary: false, verified: true }),
    );
    const another = ({ profile }: { profile: { emails?: unknown[] | undefined } }) =>
      (profile.emails?.length ?? 0) > 1;
    const remove = async (address: string) => {
      const email = await emailId(id, address);
      await write(requireAccount(contextAt(), id, another), removeEmail(contextAt(), id, email));
    };
    const settled = await Promise.allSettled([remove("one@example.com"), remove("two@example.com")]);
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await addresses(id)).toHaveLength(1);
  });
});

describe("an email address", () => {
  it("can be added, made the primary one, and removed", async () => {
    const id = await person("ada@example.com");
    await write(
      createEmail(contextAt(), id, { address: "ada@work.example", isPrimary: false, verified: true }),
    );
    await write(setPrimaryEmail(contextAt(), id, await emailId(id, "ada@work.example")));
    expect(await addresses(id)).toEqual([
      ["ada@work.example", true],
      ["ada@example.com", false],
    ]);
    await write(removeEmail(contextAt(), id, await emailId(id, "ada@example.com")));
    expect(await addresses(id)).toEqual([["ada@work.example", true]]);
  });

  it("A68 cannot be changed by another account", async () => {
    const [id, other] = [await person("own@example.com"), await person("other@example.com")];
    const foreign = await emailId(other, "other@example.com");
    await expect(write(setPrimaryEmail(contextAt(), id, foreign))).rejects.toThrow("email");
    await expect(write(removeEmail(contextAt(), id, foreign))).rejects.toThrow("email");
    expect(await addresses(id)).toEqual([["own@example.com", true]]);
    expect(await addresses(other)).toEqual([["other@example.com", true]]);
  });
});

describe("a username", () => {
  it("can be set, replaced by one that is free, and removed", async () => {
    const [id, other] = [await person(), await person()];
    await expect(write(replaceUsername(contextAt(), id, "ada"))).rejects.toThrow("username");
    await write(createUsername(contextAt(), id, "ada"), createUsername(contextAt(), other, "bert"));
    await expect(write(replaceUsername(contextAt(), id, "bert"))).rejects.toMatchObject({
      cause: { constraint: "usernames_username_unique" },
    });
    await write(replaceUsername(contextAt(), id, "lovelace"));
    expect((await read(id))?.profile.username?.username).toBe("lovelace");
    await write(removeUsername(contextAt(), id));
    expect((await read(id))?.profile.username).toBeUndefined();
    expect((await read(other))?.profile.username?.username).toBe("bert");
  });
});

describe("removeIdentity", () => {
  it("A68 removes an identity from its own account only", async () => {
    const [id, other] = [await person(), await person()];
    const identity = randomUUID();
    await write(async (tx) => {
      const row = { tenantId: runtime.tenant.id, id: identity, userId: id, provider: "google", subject: id };
      await tx.insert(schema.identities).values(row);
    });
    await expect(write(removeIdentity(contextAt(), other, identity))).rejects.toThrow("identity");
    expect((await read(id))?.identities).toEqual([
      { id: identity, provider: "google", subject: id, email: null },
    ]);
    await write(removeIdentity(contextAt(), id, identity));
    expect((await read(id))?.identities).toEqual([]);
  });
});

describe("the deletion of an account", () => {
  it("deletes the account with its other flows, and nothing of another account", async () => {
    const [id, other] = [await person(), await person()];
    await session(id);
    await session(other);
    const { tenant, database } = runtime;
    const expiresAt = new Date(Date.now() + 60_000);
    const flow = (flowId: string, userId: string) => ({
      tenantId: tenant.id,
      id: flowId,
      userId,
      type: "profile",
      state: "profile_init",
      version: 1,
      tokenHash: Buffer.alloc(32),
      resumeHash: Buffer.alloc(32),
      data: {},
      history: [],
      payload: {},
      expiresAt,
    });
    const [own, second, foreign] = [randomUUID(), randomUUID(), randomUUID()];
    await write(async (tx) => {
      await tx.insert(schema.flows).values([flow(own, id), flow(second, id), flow(foreign, other)]);
      const phone = {
        tenantId: tenant.id,
        aaid: "006F#0001",
        publicKey: Buffer.alloc(32),
        keyFormat: 0x0101,
        algorithm: 0x0002,
        signCounter: 0,
        regCounter: 0,
        authenticatorVersion: 1,
        attestation: "surrogate",
        keyName: "A phone",
        isSecondFactorOnly: true,
        lastUsedAt: expiresAt,
      };
      await tx.insert(schema.authenticatorDevices).values(
        [id, other].map((userId) => ({
          ...phone,
          id: randomUUID(),
          userId,
          keyId: Buffer.from(randomUUID()),
        })),
      );
    });
    await write(deleteAccount(contextAt(), id, own));
    expect(await read(id)).toBeNull();
    expect((await read(other))?.sessions).toHaveLength(1);
    const flows = await database.read.select({ id: schema.flows.id }).from(schema.flows);
    expect(flows.map((row) => row.id).sort()).toEqual([own, foreign].sort());
    const phones = await database.read
      .select({ userId: schema.authenticatorDevices.userId })
      .from(schema.authenticatorDevices);
    expect(phones).toEqual([{ userId: other }]);
    await expect(write(deleteAccount(contextAt(), id, own))).rejects.toThrow("user");
  });
});
