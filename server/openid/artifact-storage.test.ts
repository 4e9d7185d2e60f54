import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { type AdapterPayload, errors } from "oidc-provider";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { endOtherSessions, endSession } from "../sessions/sessions.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testClient } from "../testing/runtime.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { endAccess } from "./consents.ts";
import { identifierHash } from "./identifier-hash.ts";
import { interactionStorage } from "./interaction-storage.ts";
import { type Redemption, writeRedemption } from "./redemption.ts";
import { answeredFor, presentVisitor, type Visitor } from "./visitor.ts";
import { visitorSessionStorage } from "./visitor-session.ts";

const runtime = await runtimeForTests();
const context = { runtime, tenant: runtime.tenant };
const storageOf = (kind: string) => artifactStorage(context, kind);
const exp = Math.floor(Date.now() / 1000) + 3600;

/** A grant with a refresh token and an access token. */
async function issue(name: string) {
  const { userId: accountId } = await accountOwner(runtime);
  const issued = { accountId, clientId: "shop", grantId: name, exp };
  await storageOf("Grant").upsert(name, { accountId, clientId: "shop", exp }, 3600);
  await storageOf("RefreshToken").upsert(`refresh ${name}`, issued, 3600);
  await storageOf("AccessToken").upsert(`access ${name}`, issued, 3600);
  const left = async () => {
    const found = await Promise.all([
      storageOf("Grant").find(name),
      storageOf("RefreshToken").find(`refresh ${name}`),
      storageOf("AccessToken").find(`access ${name}`),
    ]);
    return found.map((payload) => payload !== undefined);
  };
  return { left, issued };
}

describe("an artifact", () => {
  test("is found by its identifier, kind and tenant together, as it was stored", async () => {
    const { issued } = await issue("one");
    expect(await storageOf("AccessToken").find("access one")).toEqual({ ...issued, jti: "access one" });
    expect(await storageOf("RefreshToken").find("access one")).toBeUndefined();
    const other = { ...runtime.tenant, id: "00000000-0000-4000-8000-00000000000f" };
    expect(
      await artifactStorage({ runtime, tenant: other }, "AccessToken").find("access one"),
    ).toBeUndefined();
  });

  test("leaves neither its identifier nor what it says in the database", async () => {
    await issue("hidden");
    const rows = await runtime.database.read.select().from(schema.openidArtifacts);
    const text = JSON.stringify(rows.map((row) => ({ ...row, payload: row.payload.toString("latin1") })));
    expect(text).not.toContain("hidden");
  });

  test("of a bounded number: those that expire first are forgotten", async () => {
    const storage = storageOf("MetadataDocument");
    for (const [name, life] of [
      ["short", 60],
      ["long", 600],
      ["middle", 300],
    ] as const)
      await storage.upsert(name, { accountId: undefined } as never, life);
    await storage.keepNewest(2);
    const found = await Promise.all(["short", "middle", "long"].map((name) => storage.find(name)));
    expect(found.map((payload) => payload !== undefined)).toEqual([false, true, true]);
  });

  test("is used once; the second use ends its grant and what was issued by it", async () => {
    const { left } = await issue("used");
    await storageOf("RefreshToken").consume("refresh used");
    expect(await storageOf("RefreshToken").find("refresh used")).toMatchObject({
      consumed: expect.any(Number),
    });
    expect(await left()).toEqual([true, true, true]);
    await expect(storageOf("RefreshToken").consume("refresh used")).rejects.toThrow(errors.InvalidGrant);
    expect(await left()).toEqual([false, false, false]);
  });

  test("ends with the grant that it was issued by, and no other does", async () => {
    const [one, other] = [await issue("ended"), await issue("kept")];
    for (const kind of ["RefreshToken", "AccessToken"]) await storageOf(kind).revokeByGrantId("ended");
    expect(await one.left()).toEqual([true, false, false]);
    expect(await other.left()).toEqual([true, true, true]);
  });

  const endOthers = ({ accountId }: { accountId: string }) =>
    runtime.database.write.transaction(
      endOtherSessions({ ...context, client: testClient }, accountId, "session.delete.explicit.revoke"),
    );

  test("A218 that outlives its session ends when all other sessions of its user are ended, and no other user's does", async () => {
    const [one, other] = [await issue("outliving"), await issue("of another user")];
    await endOthers(one.issued);
    expect(await one.left()).toEqual([false, false, false]);
    expect(await other.left()).toEqual([true, true, true]);
  });

  test("A218 ends beside a sign-out and an end of all sessions at once, neither of which waits for the other in vain", async () => {
    const failures: unknown[] = [];
    for (let round = 0; round < 20; round += 1) {
      const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
      const payload = {
        accountId,
        clientId: "shop",
        grantId: "g",
        sessionUid,
        expiresWithSession: true,
        exp,
      };
      await Promise.all(
        Array.from({ length: 20 }, () => storageOf("AccessToken").upsert(randomUUID(), payload, 600)),
      );
      const signOut = endSession(
        { ...context, client: testClient },
        sessionUid,
        "session.delete.explicit.logout",
      );
      const ends = [endOthers({ accountId }), runtime.database.write.transaction(signOut)];
      for (const ended of await Promise.allSettled(ends))
        if (ended.status === "rejected") failures.push(ended.reason);
    }
    expect(failures).toEqual([]);
  });

  test("A218 that is being renewed meanwhile is issued by no grant any more", async () => {
    const { issued } = await issue("renewed");
    await storageOf("RefreshToken").consume("refresh renewed");
    await endOthers(issued);
    await storageOf("RefreshToken").upsert("another refresh", issued, 3600);
    expect(await storageOf("Grant").find("renewed")).toBeUndefined();
  });

  test("of a session that has ended meanwhile is refused as the standard says", async () => {
    const { userId: accountId } = await accountOwner(runtime);
    const sessionUid = "00000000-0000-4000-8000-00000000000e";
    const payload = { accountId, clientId: "shop", sessionUid, expiresWithSession: true, exp };
    await expect(storageOf("AccessToken").upsert("late", payload, 60)).rejects.toThrow(errors.InvalidGrant);
  });

  test("that is an unused code is found no more once its session has expired, whatever it is for", async () => {
    const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
    const payload = { accountId, clientId: "shop", sessionUid, exp };
    for (const code of ["fresh code", "used code"])
      await storageOf("AuthorizationCode").upsert(code, payload, 60);
    expect(await storageOf("AuthorizationCode").find("fresh code")).toBeDefined();
    await storageOf("AuthorizationCode").consume("used code");
    await runtime.database.write.$client.query(
      "update sessions set expires_at = now() - interval '1 second' where id = $1",
      [sessionUid],
    );
    expect(await storageOf("AuthorizationCode").find("fresh code")).toBeUndefined();
    // So that its second use ends what the first one gave.
    expect(await storageOf("AuthorizationCode").find("used code")).toBeDefined();
  });
});

describe("what a call redeems", () => {
  /** A call of the library that redeems a refresh token and gives another one for it; what is to be written of it. */
  async function redeeming(name: string, issued: AdapterPayload): Promise<Redemption> {
    const visitor: Visitor = { session: null, redemption: null };
    await answeredFor(visitor, async () => {
      await storageOf("RefreshToken").find(`refresh ${name}`);
      await storageOf("RefreshToken").consume(`refresh ${name}`);
      await storageOf("RefreshToken").upsert(`next ${name}`, issued, 3600);
    });
    if (!visitor.redemption) throw new Error("nothing is to be written");
    return visitor.redemption;
  }
  const isStored = async (id: string) => (await storageOf("RefreshToken").find(id)) !== undefined;
  const isUsed = async (id: string) => (await storageOf("RefreshToken").find(id))?.consumed !== undefined;

  test("is written with what it gives, at once, when the call is answered", async () => {
    const { issued } = await issue("redeemed");
    const redemption = await redeeming("redeemed", issued);
    expect([await isUsed("refresh redeemed"), await isStored("next redeemed")]).toEqual([false, false]);
    expect(await writeRedemption(context, redemption, true)).toBe(true);
    expect([await isUsed("refresh redeemed"), await isStored("next redeemed")]).toEqual([true, true]);
  });

  test("is used up by a call that is refused, which gives nothing", async () => {
    const { issued } = await issue("refused");
    expect(await writeRedemption(context, await redeeming("refused", issued), false)).toBe(true);
    expect([await isUsed("refresh refused"), await isStored("next refused")]).toEqual([true, false]);
  });

  test("A208 twenty times at once gives once; the others end all that was given", async () => {
    const { issued, left } = await issue("twenty");
    const redemptions = await Promise.all(Array.from({ length: 20 }, () => redeeming("twenty", issued)));
    const written = await Promise.allSettled(redemptions.map((one) => writeRedemption(context, one, true)));
    const outcomes = written.map((one) => (one.status === "fulfilled" ? one.value : one.reason));
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(1);
    // The first of the others ends the grant, after which there is nothing left to use.
    const others = outcomes.filter((outcome) => outcome !== true);
    expect(others).toContain(false);
    expect(others.every((outcome) => outcome === false || outcome instanceof errors.InvalidGrant)).toBe(true);
    expect(await left()).toEqual([false, false, false]);
    expect(await isStored("next twenty")).toBe(false);
  });

  test("A218 gives nothing if its grant, or its session, has ended meanwhile", async () => {
    const { issued } = await issue("late");
    const redemption = await redeeming("late", issued);
    await runtime.database.write.transaction(
      endOtherSessions(
        { ...context, client: testClient },
        issued.accountId,
        "session.delete.explicit.revoke",
      ),
    );
    await expect(writeRedemption(context, redemption, true)).rejects.toThrow(errors.InvalidGrant);
    expect(await isStored("next late")).toBe(false);

    const { userId: accountId } = await accountOwner(runtime);
    const sessionUid = "00000000-0000-4000-8000-00000000000e";
    const ofSession = { ...issued, accountId, sessionUid, expiresWithSession: true };
    await issue("of a session");
    const late = await redeeming("of a session", ofSession);
    await expect(writeRedemption(context, late, true)).rejects.toThrow(errors.InvalidGrant);
    expect(await isUsed("refresh of a session")).toBe(false);
  });
});

test("A218 a refresh beside a sign-out, and beside the end of all sessions, waits for neither in vain", async () => {
  const failures: unknown[] = [];
  for (let round = 0; round < 60; round += 1) {
    const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
    const name = `beside ${round}`;
    const issued = { accountId, clientId: "shop", grantId: name, sessionUid, expiresWithSession: true, exp };
    await storageOf("RefreshToken").upsert(`refresh ${name}`, issued, 3600);
    const visitor: Visitor = { session: null, redemption: null };
    await answeredFor(visitor, async () => {
      await storageOf("RefreshToken").consume(`refresh ${name}`);
      await storageOf("RefreshToken").upsert(`next ${name}`, issued, 3600);
      await storageOf("AccessToken").upsert(`access ${name}`, issued, 3600);
    });
    if (!visitor.redemption) throw new Error("nothing is to be written");
    const acting = { ...context, client: testClient };
    const end =
      round % 2 === 0
        ? endSession(acting, sessionUid, "session.delete.explicit.logout")
        : endOtherSessions(acting, accountId, "session.delete.explicit.revoke");
    const { redemption } = visitor;
    const [ended, redeemed] = await Promise.allSettled([
      runtime.database.write.transaction(end),
      setTimeout((round % 6) / 2).then(() => writeRedemption(context, redemption, true)),
    ]);
    if (ended.status === "rejected") failures.push(ended.reason);
    if (redeemed.status === "rejected" && !(redeemed.reason instanceof errors.InvalidGrant))
      failures.push(redeemed.reason);
  }
  expect(failures).toEqual([]);
});

const acting = { ...context, client: testClient };

describe("A291 the end of the access of an application waits in vain for none of", () => {
  interface Access {
    accountId: string;
    sessionUid: string;
    grantId: string;
    device: string;
  }

  /** Access by a device, and by a browser with ten tokens of one grant. */
  async function access(): Promise<Access> {
    const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
    const [grantId, ofDevice, device] = [randomUUID(), randomUUID(), randomUUID()];
    const ofClient = { accountId, clientId: "shop", exp };
    for (const grant of [ofDevice, grantId]) await storageOf("Grant").upsert(grant, ofClient, 3600);
    // After its grant: each of its requests moves the row of a device.
    await storageOf("DeviceCode").upsert(device, { ...ofClient, grantId: ofDevice }, 600);
    const issued = { ...ofClient, grantId, sessionUid, expiresWithSession: true };
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        storageOf(index % 2 ? "AccessToken" : "RefreshToken").upsert(`${index} ${grantId}`, issued, 3600),
      ),
    );
    return { accountId, sessionUid, grantId, device };
  }

  const others: Record<string, (one: Access) => Promise<unknown>> = {
    "the redemption of a device's code": async ({ accountId, device }) => {
      const visitor: Visitor = { session: null, redemption: null };
      await answeredFor(visitor, async () => {
        await storageOf("DeviceCode").consume(device);
        const issued = { accountId, clientId: "shop", grantId: "of the device", exp };
        await storageOf("RefreshToken").upsert(`refresh ${device}`, issued, 3600);
      });
      if (!visitor.redemption) throw new Error("nothing is to be written");
      return writeRedemption(context, visitor.redemption, true);
    },
    "the second use of a token": async ({ grantId }) => {
      const use = () => storageOf("RefreshToken").consume(`0 ${grantId}`);
      await use().then(use);
    },
    "the end of a grant by the library": ({ grantId }) => storageOf("AccessToken").revokeByGrantId(grantId),
    "a sign-out": ({ sessionUid }) =>
      runtime.database.write.transaction(endSession(acting, sessionUid, "session.delete.explicit.logout")),
    "the end of all sessions": ({ accountId }) =>
      runtime.database.write.transaction(
        endOtherSessions(acting, accountId, "session.delete.explicit.revoke"),
      ),
  };

  test.each(Object.keys(others))("%s", async (name) => {
    const failures: unknown[] = [];
    for (let round = 0; round < 40; round += 1) {
      const one = await access();
      const [ended, other] = await Promise.allSettled([
        setTimeout((round % 4) / 2).then(() =>
          runtime.database.write.transaction(endAccess(runtime.tenant.id, one.accountId, "shop")),
        ),
        setTimeout((round % 6) / 2).then(() => others[name]?.(one)),
      ]);
      if (ended.status === "rejected") failures.push(ended.reason);
      if (other.status === "rejected" && !(other.reason instanceof errors.InvalidGrant))
        failures.push(other.reason);
      const left = await Promise.all([
        storageOf("Grant").find(one.grantId),
        storageOf("DeviceCode").find(one.device),
      ]);
      expect(left).toEqual([undefined, undefined]);
    }
    expect(failures).toEqual([]);
  });
});

test.each<[string, (accountId: string, sessionId: string) => Write]>([
  ["the end of all sessions", (id) => endOtherSessions(acting, id, "session.delete.explicit.revoke")],
  ["a sign-out", (_, id) => endSession(acting, id, "session.delete.explicit.logout")],
])("A291 %s waits in vain for no second use of a token", async (_, endOf) => {
  const { $client } = runtime.database.write;
  // Among so many others that the tokens of a user are read by an index.
  await $client.query(
    `insert into openid_artifacts (tenant_id, kind, id_hash, payload, created_at, expires_at)
     select $1, 'ReplayDetection', 'filler ' || number, '', now(), now() + interval '1 hour'
     from generate_series(1, 5000) number on conflict do nothing`,
    [runtime.tenant.id],
  );
  for (let round = 0; round < 6; round += 1) {
    const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
    const grantId = randomUUID();
    const ofClient = { accountId, clientId: "shop", exp };
    await storageOf("Grant").upsert(grantId, ofClient, 3600);
    const issued = { ...ofClient, grantId, sessionUid, expiresWithSession: true };
    // Stored against the order in which they are locked.
    for (const kind of ["RefreshToken", "AccessToken"])
      for (const number of [1, 2, 3]) await storageOf(kind).upsert(`${number} ${grantId}`, issued, 3600);
    await $client.query("analyze openid_artifacts");
    await storageOf("RefreshToken").consume(`1 ${grantId}`);
    const holder = await $client.connect();
    try {
      await holder.query("begin");
      await holder.query(
        "select from openid_artifacts where kind = 'AccessToken' and grant_hash = $1 for update",
        [identifierHash(grantId)],
      );
      const used = storageOf("RefreshToken")
        .consume(`1 ${grantId}`)
        .catch((error: unknown) => error);
      await waitsForLock($client);
      const ended = runtime.database.write.transaction(endOf(accountId, sessionUid));
      await waitsForLock($client, 2);
      await holder.query("commit");
      expect(await used).toBeInstanceOf(errors.InvalidGrant);
      await ended;
    } finally {
      holder.release(true);
    }
    expect(await storageOf("Grant").find(grantId)).toBeUndefined();
    expect(await storageOf("RefreshToken").find(`2 ${grantId}`)).toBeUndefined();
  }
});

test("a token is read with its grant, its session and its account, as each would be by itself", async () => {
  const { userId: accountId, sessionId: sessionUid } = await accountOwner(runtime);
  const issued = {
    accountId,
    clientId: "shop",
    grantId: "g of all",
    sessionUid,
    expiresWithSession: true,
    exp,
  };
  await storageOf("Grant").upsert("g of all", { accountId, clientId: "shop", exp }, 3600);
  await storageOf("AccessToken").upsert("a of all", issued, 3600);
  const ofClient = {
    authorizations: { shop: { grantId: "g of all" } },
    clientId: "shop",
    accountId,
    sessionUid,
  };
  await storageOf("Session").upsert("s of all", { ...ofClient, expiresWithSession: true }, 3600);
  const sessions = visitorSessionStorage(context);
  const alone = async () => [await storageOf("Grant").find("g of all"), await sessions.findByUid(sessionUid)];
  const together = await answeredFor({ session: null }, async () => {
    await storageOf("AccessToken").find("a of all");
    expect(presentVisitor().readAhead?.account).toMatchObject({ accountId, row: expect.any(Object) });
    return alone();
  });
  expect(together).toEqual(await alone());
  expect(together[0]).toMatchObject({ clientId: "shop" });
  expect(together[1]).toMatchObject({ accountId, authorizations: { shop: { grantId: "g of all" } } });

  await runtime.database.write
    .update(schema.users)
    .set({ blockedAt: new Date() })
    .where(eq(schema.users.id, accountId));
  await answeredFor({ session: null }, async () => {
    await storageOf("AccessToken").find("a of all");
    expect(presentVisitor().readAhead?.account).toEqual({ accountId, row: null });
  });
});

test("a model whose name a bundler has shortened is refused before anything is stored under it", () => {
  expect(() => storageOf("f")).toThrow("has no model f");
});

describe("an authorization request that waits", () => {
  const interactions = interactionStorage(context);
  const now = Math.floor(Date.now() / 1000);

  /** What the library learns when the browser returns with a session of a sign-in so many seconds ago. */
  async function answerOf(reasons: string[], signedInSecondsAgo: number) {
    const { userId } = await accountOwner(runtime);
    const prompt = { name: "login", reasons, details: {} };
    await interactions.upsert("waiting", { kind: "Interaction", iat: now - 60, exp, prompt }, 3600);
    const session = {
      userId,
      authenticatedAt: new Date((now - signedInSecondsAgo) * 1000),
      amr: ["pwd"],
      factors: [{ method: "password" as const, at: new Date().toISOString() }],
    };
    return answeredFor({ session: session as never }, () => interactions.find("waiting"));
  }

  test("is answered by a sign-in after it, with who signed in, how and when", async () => {
    expect(await answerOf(["login_prompt"], 30)).toMatchObject({
      result: {
        login: { accountId: expect.any(String), ts: now - 30, amr: ["pwd"], acr: "urn:stile:sign-in" },
      },
    });
  });

  test("that asks for a new sign-in is not answered by one before it", async () => {
    for (const reason of ["login_prompt", "max_age"])
      expect(await answerOf(["no_session", reason], 90)).not.toHaveProperty("result");
  });

  test("of a visitor without a session is answered by any sign-in, such as one in another window", async () => {
    expect(await answerOf(["no_session"], 90)).toHaveProperty("result.login");
  });

  test("is not answered without a session", async () => {
    await answerOf(["no_session"], 0);
    expect(await answeredFor({ session: null }, () => interactions.find("waiting"))).not.toHaveProperty(
      "result",
    );
  });
});
