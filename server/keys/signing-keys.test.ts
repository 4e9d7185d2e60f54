import { randomBytes, randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { schema } from "#db/client";
import { StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { Tenant } from "../config/tenant.ts";
import { purgeExpired } from "../database/purge.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import type { Algorithm } from "./jwt.ts";
import type { KeyPurpose } from "./signing-key-store.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { createVault, type Vault } from "./vault.ts";
import { createVerifiedSignatures, type VerifiedSignatures } from "./verified-signatures.ts";

const oldKey = "an old key of the operator";
const newKey = "a new key of the operator";
const hour = 3_600_000;

let tenantId: string;
let shift: number;

const postgres = await openForTests(testDatabase());

beforeEach(async () => {
  shift = 0;
  tenantId = await newTenant();
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function newTenant(): Promise<string> {
  const id = randomUUID();
  await postgres.database.write.insert(schema.tenants).values({ id, name: "a tenant" });
  return id;
}

/** A process that starts with these secret keys. */
function start(
  secretKeys: string[],
  algorithm: Algorithm = "ES256",
  id = tenantId,
  purpose: KeyPurpose = "session",
  more: { vault?: Vault; seen?: VerifiedSignatures } = {},
): SigningKeys {
  const config = loadConfig(
    { STILE_SESSION_ALGORITHM: algorithm, STILE_SESSION_LIFESPAN: "12h" },
    "/nowhere",
  );
  const tenant: Tenant = { id, config };
  return createSigningKeys({
    database: postgres.database,
    vault: createVault(secretKeys),
    tenant,
    purpose,
    platform: { randomBytes, uuid: randomUUID, clockShift: () => shift },
    log: pino({ level: "silent" }),
    ...more,
  });
}

async function ready(...parameters: Parameters<typeof start>): Promise<SigningKeys> {
  const keys = start(...parameters);
  await keys.ready;
  return keys;
}

function freshClaims() {
  const iat = Math.floor((Date.now() + shift) / 1000);
  return { iss: "https://id.example", aud: ["app.example"], sub: "ada", iat, exp: iat + 12 * 3600 };
}

const signBy = (keys: SigningKeys) => keys.sign(freshClaims(), { typ: "JWT" });

const verifyBy = (keys: SigningKeys, token: string) =>
  keys.verify(token, { typ: "JWT", audience: ["app.example"], now: new Date(Date.now() + shift) });

/** Lets the time pass in which a new key is only published, and the age of cached keys. */
function aFewMinutesLater(): void {
  shift += 23 * 60_000;
  const later = performance.now() + 23 * 60_000;
  vi.spyOn(performance, "now").mockReturnValue(later);
}

/** Lets the purge run some minutes after the last new key. */
async function purge(): Promise<void> {
  const aged = { createdAt: sql`created_at - interval '23 minutes'` };
  await postgres.database.write.update(schema.signingKeys).set(aged);
  await purgeExpired(postgres.database, loadConfig({}, "/nowhere"));
}

const rows = async () => {
  const all = await postgres.database.read.select().from(schema.signingKeys);
  return all.filter((row) => row.tenantId === tenantId);
};

describe.each<Algorithm>(["RS256", "ES256", "EdDSA"])("a first start with %s", (algorithm) => {
  it("generates a key whose tokens verify with the published keys, which contain no private key", async () => {
    const keys = start([newKey], algorithm);
    const token = await signBy(keys);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: algorithm, typ: "JWT" });
    expect(await verifyBy(keys, token)).toMatchObject({ sub: "ada" });

    const published = await keys.jwks();
    await jwtVerify(token, createLocalJWKSet(published as JSONWebKeySet), { audience: "app.example" });
    const members = { RS256: ["e", "n"], ES256: ["crv", "x", "y"], EdDSA: ["crv", "x"] }[algorithm];
    expect(published.keys).toHaveLength(1);
    expect(Object.keys(published.keys[0] ?? {}).sort()).toEqual(
      ["alg", "kid", "kty", "use", ...members].sort(),
    );
    expect(published.keys[0]).toMatchObject({ alg: algorithm, use: "sig" });
  });
});

it("signs with the same key after a restart", async () => {
  const first = await ready([newKey]);
  const second = await ready([newKey]);
  expect(await second.jwks()).toEqual(await first.jwks());
  expect(await verifyBy(first, await signBy(second))).not.toBeNull();
  expect(await rows()).toHaveLength(1);
});

it("ten processes that start concurrently share one key", async () => {
  const processes = await Promise.all(Array.from({ length: 10 }, () => ready([newKey])));
  const tokens = await Promise.all(processes.map(signBy));
  expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1);
  expect(await rows()).toHaveLength(1);
});

it("stores the private key sealed, for its own row only", async () => {
  await ready([newKey]);
  const [row] = await rows();
  expect(row?.sealedBy).toBe(createVault([newKey]).keyIds[0]);
  expect(row?.sealedPrivateJwk.toString()).not.toContain('"d"');
  const vault = createVault([newKey]);
  const sealed = row?.sealedPrivateJwk ?? Buffer.alloc(0);
  expect(() => vault.unseal(sealed, `signing_keys/${tenantId}/session/${randomUUID()}`)).toThrow();
  const jwk: unknown = JSON.parse(
    vault.unseal(sealed, `signing_keys/${tenantId}/session/${row?.id}`).toString(),
  );
  expect(jwk).toHaveProperty("d");
});

describe("a new first secret key", () => {
  it("A66 generates a new signing key; tokens of the old one stay valid, and its private key is erased", async () => {
    const before = await ready([oldKey]);
    const oldToken = await signBy(before);
    const after = await ready([newKey, oldKey]);
    aFewMinutesLater();
    const newToken = await signBy(after);
    const kids = [newToken, oldToken].map((token) => decodeProtectedHeader(token).kid);
    expect(new Set(kids).size).toBe(2);
    expect((await after.jwks()).keys.map((key) => key.kid)).toEqual(kids);
    expect(await verifyBy(after, oldToken)).not.toBeNull();
    await purge();
    expect(await rows()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: kids[1],
          retiredAt: expect.any(Date),
          sealedPrivateJwk: Buffer.alloc(0),
        }),
        expect.objectContaining({ id: kids[0], retiredAt: null }),
      ]),
    );
    expect(await verifyBy(await ready([newKey, oldKey]), await signBy(after))).not.toBeNull();
    expect(await verifyBy(await ready([newKey]), oldToken)).not.toBeNull();
  });

  it("A66 does not erase the private key of the old one while that signs", async () => {
    await ready([oldKey]);
    await purge();
    await ready([newKey, oldKey]);
    await purgeExpired(postgres.database, loadConfig({}, "/nowhere"));
    expect((await rows()).map(({ retiredAt }) => retiredAt)).toEqual([null, null]);
    await signBy(await ready([oldKey, newKey]));
    expect(await rows()).toHaveLength(3);
  });

  it("is published before it signs, so that a cached key set verifies every token", async () => {
    const before = await ready([oldKey]);
    const cached = createLocalJWKSet((await before.jwks()) as JSONWebKeySet);
    const after = await ready([newKey, oldKey]);
    const [made] = (await after.jwks()).keys;
    const options = { audience: "app.example" };
    for (const keys of [after, before]) await jwtVerify(await signBy(keys), cached, options);

    aFewMinutesLater();
    expect(decodeProtectedHeader(await signBy(after)).kid).toBe(made?.kid);
    expect(decodeProtectedHeader(await signBy(await ready([newKey, oldKey]))).kid).toBe(made?.kid);
  });

  it("signs at no process that starts while it is only published", async () => {
    const cached = createLocalJWKSet((await (await ready([oldKey])).jwks()) as JSONWebKeySet);
    await ready([newKey, oldKey]);
    const started = await ready([newKey, oldKey]);
    await jwtVerify(await signBy(started), cached, { audience: "app.example" });
    expect(await rows()).toHaveLength(2);
  });

  it("A66 a process without the new secret key accepts tokens of the new key at once, and signs with the old one", async () => {
    const before = await ready([oldKey]);
    const after = await ready([newKey, oldKey]);
    await purge();
    aFewMinutesLater();
    expect(await verifyBy(before, await signBy(after))).not.toBeNull();
    expect(await verifyBy(after, await signBy(before))).not.toBeNull();
  });

  it("A66 tokens of the old signing key still verify after the old secret key was removed", async () => {
    const oldToken = await signBy(await ready([oldKey]));
    await ready([newKey, oldKey]);
    await purge();
    const later = await ready([newKey]);
    expect(await verifyBy(later, oldToken)).not.toBeNull();
  });

  it("A66 the old key is published until its last token expires, and deleted when the next one is generated", async () => {
    const oldToken = await signBy(await ready([oldKey]));
    await ready([newKey, oldKey]);
    await purge();
    shift = 12 * hour;
    expect((await (await ready([newKey])).jwks()).keys).toHaveLength(2);
    shift = 13 * hour + 1000;
    const late = await ready([newKey]);
    expect((await late.jwks()).keys).toHaveLength(1);
    expect(
      await late.verify(oldToken, { typ: "JWT", audience: ["app.example"], now: "unchecked" }),
    ).toBeNull();
    expect(await rows()).toHaveLength(2);
    await ready([newKey], "EdDSA");
    expect((await rows()).map((row) => row.algorithm).sort()).toEqual(["ES256", "EdDSA"]);
  });
});

it("generates another key for another algorithm, and tokens of the old one stay valid", async () => {
  const before = await ready([newKey], "ES256");
  const oldToken = await signBy(before);
  const after = await ready([newKey], "RS256");
  aFewMinutesLater();
  expect(decodeProtectedHeader(await signBy(after)).alg).toBe("RS256");
  expect(await verifyBy(after, oldToken)).not.toBeNull();
});

it("A183 an algorithm that changes back and forth fills no key set, and holds up no new secret key", async () => {
  for (let change = 0; change < 15; change += 1) await ready([newKey], change % 2 ? "EdDSA" : "ES256");
  aFewMinutesLater();
  const keys = await ready([newKey], "ES256");
  expect((await keys.jwks()).keys).toHaveLength(10);
  expect(decodeProtectedHeader(await signBy(keys)).alg).toBe("EdDSA");
  await ready([oldKey, newKey], "ES256");
  expect(await rows()).toHaveLength(11);

  await purge();
  shift += 13 * hour + 1000;
  await ready([oldKey, newKey], "RS256");
  expect(decodeProtectedHeader(await signBy(await ready([oldKey, newKey], "RS256"))).alg).toBe("RS256");
  expect(await rows()).toHaveLength(2);
});

it("rejects a start without the key that sealed the signing key, in one line that names it", async () => {
  await ready([oldKey]);
  const keys = start([newKey]);
  const [missing] = createVault([oldKey]).keyIds;
  await expect(keys.loaded).rejects.toThrow(StartError);
  await expect(keys.loaded).rejects.toThrow(new RegExp(`^SECRET_KEYS .*${missing}[^\n]*$`));
  await expect(keys.ready).rejects.toThrow(StartError);
  await expect(signBy(keys)).rejects.toThrow(StartError);
  expect(await rows()).toHaveLength(1);
});

describe("verification", () => {
  it("A65 rejects a token of another tenant", async () => {
    const [one, two] = await Promise.all([ready([newKey]), ready([newKey], "ES256", await newTenant())]);
    expect(await verifyBy(two, await signBy(one))).toBeNull();
    expect(await verifyBy(one, await signBy(two))).toBeNull();
    expect((await one.jwks()).keys[0]?.kid).not.toBe((await two.jwks()).keys[0]?.kid);
  });

  it("A63 rejects key ids that name no published key", async () => {
    const keys = await ready([newKey]);
    const [, payload, signature] = (await signBy(keys)).split(".");
    const names = [
      "../../dev/null",
      "' or 1=1 --",
      "https://evil.example/key",
      "__proto__",
      "constructor",
      "",
      "\0",
    ];
    for (const kid of [...names, ["x"], { $ne: 1 }, randomUUID()]) {
      const header = Buffer.from(JSON.stringify({ alg: "ES256", typ: "JWT", kid })).toString("base64url");
      expect(await verifyBy(keys, `${header}.${payload}.${signature}`)).toBeNull();
    }
  });

  it("A63 queries the database once for many unknown key ids", async () => {
    const keys = await ready([newKey]);
    const [, payload, signature] = (await signBy(keys)).split(".");
    const asked = vi.spyOn(postgres.database.read.$client, "query");
    const flood = Array.from({ length: 200 }, () => {
      const header = { alg: "ES256", typ: "JWT", kid: randomUUID() };
      return verifyBy(
        keys,
        `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`,
      );
    });
    expect(await Promise.all(flood)).toEqual(flood.map(() => null));
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("A66 rejects a key within a minute after the operator has removed it, and signs with a new one", async () => {
    const keys = await ready([newKey]);
    const token = await signBy(keys);
    await postgres.database.write.delete(schema.signingKeys);
    const later = performance.now() + 60_001;
    vi.spyOn(performance, "now").mockReturnValue(later);
    expect(await verifyBy(keys, token)).toBeNull();
    expect(await verifyBy(keys, await signBy(keys))).not.toBeNull();
  });
});

describe("a token that was seen before", () => {
  const observed = () => {
    const seen = createVerifiedSignatures();
    return { seen, has: vi.spyOn(seen, "has") };
  };

  it("is not verified again after the keys were read again, which opens no key anew", async () => {
    const { seen, has } = observed();
    const vault = createVault([newKey]);
    const unseal = vi.spyOn(vault, "unseal");
    const keys = await ready([newKey], "EdDSA", tenantId, "session", { vault, seen });
    const token = await signBy(keys);
    expect(await verifyBy(keys, token)).not.toBeNull();
    aFewMinutesLater();
    expect(await verifyBy(keys, token)).not.toBeNull();
    expect(has.mock.results.map(({ value }) => value)).toEqual([false, true]);
    expect(unseal).toHaveBeenCalledTimes(1);
  });

  it("A66 is rejected once its key was removed, also if another key takes its id", async () => {
    const { seen, has } = observed();
    const keys = await ready([newKey], "ES256", tenantId, "session", { seen });
    const token = await signBy(keys);
    const [mine] = await rows();
    for (let times = 0; times < 2; times += 1) expect(await verifyBy(keys, token)).not.toBeNull();
    const other = await newTenant();
    await ready([newKey], "ES256", other);
    const [stranger] = (await postgres.database.read.select().from(schema.signingKeys)).filter(
      ({ tenantId: owner }) => owner === other,
    );
    await postgres.database.write
      .update(schema.signingKeys)
      .set({ publicJwk: stranger?.publicJwk ?? {} })
      .where(eq(schema.signingKeys.id, mine?.id ?? ""));
    aFewMinutesLater();
    expect(await verifyBy(keys, token)).toBeNull();
    await postgres.database.write.delete(schema.signingKeys).where(eq(schema.signingKeys.tenantId, tenantId));
    shift += 23 * 60_000;
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 23 * 60_000);
    expect(await verifyBy(keys, token)).toBeNull();
    expect(has.mock.results.map(({ value }) => value)).toEqual([false, true, false]);
  });
});

describe("without a database connection", () => {
  it("signs and verifies with the cached keys", async () => {
    const keys = await ready([newKey]);
    const token = await signBy(keys);
    const later = performance.now() + 60_001;
    vi.spyOn(performance, "now").mockReturnValue(later);
    vi.spyOn(postgres.database.read.$client, "query").mockImplementation(() => {
      throw new Error("connection refused");
    });
    expect(await verifyBy(keys, token)).not.toBeNull();
    expect(await verifyBy(keys, await signBy(keys))).not.toBeNull();
    expect((await keys.jwks()).keys).toHaveLength(1);
  });

  it("generates the key at the first signature if that failed at the start", async () => {
    const broken = vi.spyOn(postgres.database.read.$client, "query").mockImplementation(() => {
      throw new Error("connection refused");
    });
    const keys = start([newKey]);
    await expect(keys.ready).rejects.toThrow();
    broken.mockRestore();
    expect(await verifyBy(keys, await signBy(keys))).not.toBeNull();
  });
});

describe("keys for tokens of the passkey server", () => {
  const passkeys = (...secretKeys: string[]) => ready(secretKeys, "ES256", tenantId, "passkeys");

  it("are separate from those of sessions, and neither verify tokens of the others", async () => {
    const [sessions, tokens] = [await ready([oldKey]), await passkeys(oldKey)];
    expect(
      (await rows()).map(({ purpose, algorithm, retiredAt }) => [purpose, algorithm, retiredAt]),
    ).toEqual(
      expect.arrayContaining([
        ["session", "ES256", null],
        ["passkeys", "RS256", null],
      ]),
    );
    const [session, token] = [await signBy(sessions), await signBy(tokens)];
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: "RS256", typ: "JWT" });
    expect(await verifyBy(sessions, session)).not.toBeNull();
    expect(await verifyBy(tokens, token)).not.toBeNull();
    expect(await verifyBy(sessions, token)).toBeNull();
    expect(await verifyBy(tokens, session)).toBeNull();
    const [own] = (await tokens.jwks()).keys;
    expect(own).toMatchObject({ kty: "RSA", kid: decodeProtectedHeader(token).kid });
    expect(Buffer.from(own?.n ?? "", "base64url")).toHaveLength(256);
  });

  it("stay published until their last token has expired, after five minutes", async () => {
    const before = await passkeys(oldKey);
    const [old] = (await before.jwks()).keys;
    const after = await passkeys(newKey, oldKey);
    await purge();
    expect((await after.jwks()).keys.map(({ kid }) => kid)).toContain(old?.kid);
    shift = hour + 299_000;
    expect((await (await passkeys(newKey, oldKey)).jwks()).keys).toHaveLength(2);
    shift = hour + 301_000;
    expect((await (await passkeys(newKey, oldKey)).jwks()).keys).toHaveLength(1);
  });

  it("are archived when they are no longer published, without the private key, for receipts", async () => {
    const before = await passkeys(oldKey);
    const receipt = await before.sign({ sub: "ada" }, { typ: "transaction-receipt+jwt" });
    await passkeys(newKey, oldKey);
    await purge();
    shift = 365 * 24 * hour;
    await passkeys(oldKey, newKey);
    await purge();
    shift += 365 * 24 * hour;
    const later = await passkeys(newKey, oldKey);
    expect((await later.jwks()).keys).toHaveLength(2);
    const archive = await later.archive();
    expect(archive.keys).toHaveLength(4);
    expect(archive.keys.slice(0, 2)).toEqual((await later.jwks()).keys);
    for (const key of archive.keys) expect(key).not.toHaveProperty("d");
    const { protectedHeader } = await compactVerify(receipt, createLocalJWKSet(archive));
    expect(protectedHeader.kid).toBe(archive.keys[3]?.kid);
    await expect(compactVerify(receipt, createLocalJWKSet(await later.jwks()))).rejects.toThrow();
  });

  it("verify no token once they are archived only", async () => {
    const token = await signBy(await passkeys(oldKey));
    await passkeys(newKey, oldKey);
    await purge();
    shift = 365 * 24 * hour;
    expect(await verifyBy(await passkeys(newKey, oldKey), token)).toBeNull();
  });
});
