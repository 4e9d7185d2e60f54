import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { folderForTests } from "../testing/open-for-tests.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { run } from "../testing/program.ts";
import { receiptIssuer, transaction } from "../testing/receipts.ts";
import { runStile } from "../testing/stile.ts";

const root = join(import.meta.dirname, "../..");
const example = JSON.parse(
  readFileSync(join(root, "server/passkey-server/receipt.example.json"), "utf8"),
) as { receipt: string; jwks: { keys: object[] }; public_key: string };

const folder = folderForTests("receipts");
const file = join(folder, "receipt");
const jwks = join(folder, "jwks.json");
writeFileSync(file, `${example.receipt}\n`);
writeFileSync(jwks, JSON.stringify(example.jwks));

/** Start options without configuration and with an unreachable database. */
const nowhere = () => ({
  cwd: folder,
  env: {
    PATH: process.env.PATH ?? "",
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    NODE_ENV: "production" as const,
  },
});

const verify = (words: string[], input?: string) =>
  runStile(["receipt", "verify", ...words], { ...nowhere(), input });

/** The same in a separate process, as an operator runs it. */
const verifyByProgram = (words: string[], input?: string) =>
  run(join(root, "bin", "stile.js"), ["receipt", "verify", ...words], { ...nowhere(), input });

describe("stile receipt verify", () => {
  test("prints the confirmed transaction without server, database or configuration", async () => {
    const { code, out, err } = await verifyByProgram([file, "--jwks", jwks, "--origin", transaction.origin]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^The receipt is valid\.\n/);
    expect(out).toMatch(/^ {2}transaction {4}order-2041$/m);
    expect(out).toMatch(/^ {2}user {11}ada$/m);
    expect(out).toMatch(/^ {2}confirmed at {3}2026-11-25T09:20:30\.000Z$/m);
    expect(out).toContain('    "payee": "Bergmann & Söhne"');
  });

  test("reads standard input and prints JSON", async () => {
    const { code, out } = await verifyByProgram(["-", "--jwks", jwks, "--json"], example.receipt);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      valid: true,
      transaction_id: transaction.id,
      user_id: transaction.userId,
      data: JSON.parse(transaction.data),
      created_at: "2026-11-25T09:20:00.000Z",
      confirmed_at: "2026-11-25T09:20:30.000Z",
      issuer: expect.stringMatching(/^https:/),
      issuer_key: expect.any(String),
      tenant_id: expect.any(String),
      relying_party: transaction.rpId,
      origin: transaction.origin,
      credential_id: expect.any(String),
      public_key: example.public_key,
      aaguid: "00000000-0000-0000-0000-000000000000",
      attestation_trust: null,
      user_verified: true,
    });
  });

  test("exits with 1 and prints the reason for an invalid receipt", async () => {
    const altered = example.receipt.replace(/.{5}$/, "AAAAA");
    const line =
      "stile: the receipt is invalid (issuer_signature). The issuer's signature is invalid: the receipt was changed, or the key is not the issuer's.\n";
    expect(await verify(["-", "--jwks", jwks], altered)).toEqual({ code: 1, out: "", err: line });
    const { code, out } = await verify(["-", "--jwks", jwks, "--json"], altered);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { valid: false, code: "issuer_signature", reason: expect.any(String) },
    ]);
    const elsewhere = await verify([file, "--jwks", jwks, "--origin", "https://evil.example"]);
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining("(origin_mismatch)")]);
  });

  test("marks unverified facts without the issuer", async () => {
    const { code, out } = await verify([file, "--without-issuer", "--public-key", example.public_key]);
    expect(code).toBe(0);
    expect(out).toMatch(/^The passkey's signature is valid\. The issuer's was not verified\.\n/);
    expect(out).toMatch(/^ {2}user {11}ada {2}\(not verified\)$/m);
    expect(out).toMatch(/^ {2}passkey {8}\S+ {2}\(not verified\)$/m);
    expect(out).toMatch(/^ {2}public key {5}\S+$/m);
    const alone = await verify([file, "--without-issuer"]);
    expect(alone.out).toMatch(/^ {2}public key {5}\S+ {2}\(not verified\)$/m);
    const other = await verify([file, "--without-issuer", "--public-key", receiptIssuer().publicKey]);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining("(public_key_mismatch)")]);
  });

  test("accepts a single key", async () => {
    const key = join(folder, "key.json");
    writeFileSync(key, JSON.stringify(example.jwks.keys[0]));
    expect((await verify([file, "--jwks", key])).code).toBe(0);
  });

  test("prints no control characters", async () => {
    const issuer = receiptIssuer();
    const data = `${String.raw`{"to":"\u001b[2Jx`}\u202e\u009b"}`;
    const receipt = await issuer.issue({
      claims: { data, user_id: "ada\u202e" },
      signed: { data },
      call: { userHandle: null },
    });
    const keys = join(folder, "other.json");
    writeFileSync(keys, JSON.stringify(issuer.jwks));
    const { code, out } = await verify(["-", "--jwks", keys], receipt);
    expect(code).toBe(0);
    expect(out).toContain("ada‹U+202E›");
    expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test("exits with 2 for invalid arguments, and with 1 for an unreadable file", async () => {
    expect((await verify([file, "--jwks", jwks, "--without-issuer"])).code).toBe(2);
    expect((await verify([])).code).toBe(2);
    expect(await verify(["/no/such", "--jwks", jwks])).toMatchObject({
      code: 1,
      err: "stile: /no/such cannot be read: ENOENT\n",
    });
    expect((await verify([file, "--jwks", file])).err).toBe(`stile: ${file} is not a JSON Web Key Set\n`);
  });
});

describe("stile receipt verify without --jwks", () => {
  let archive: TestDatabase;
  beforeAll(async () => {
    archive = await testDatabase();
  });
  afterAll(() => archive.close());

  /** Archives the example's key as one that a tenant has replaced years ago. */
  async function archiveKeyOf(tenantId: string) {
    const [{ kid, alg, use: _, ...publicJwk }] = example.jwks.keys as [Record<string, string>];
    await archive.database.write
      .insert(schema.tenants)
      .values({ id: tenantId, name: "Shop" })
      .onConflictDoNothing();
    await archive.database.write.insert(schema.signingKeys).values({
      tenantId,
      id: kid ?? "",
      purpose: "passkeys",
      algorithm: alg ?? "",
      publicJwk,
      sealedPrivateJwk: Buffer.alloc(0),
      sealedBy: "a key of long ago",
      retiredAt: new Date("2020-01-01"),
    });
  }
  const verifyByArchive = (input: string) =>
    runStile(["receipt", "verify", "-"], {
      cwd: folder,
      env: { ...nowhere().env, DATABASE_URL: archive.url, SECRET_KEYS: "a key for tests alone" },
      input,
    });
  const { tenant_id: tenantId } = decodeJwt(example.receipt) as { tenant_id: string };

  test("reads the archive of the database, and no key of another tenant", async () => {
    await archiveKeyOf(randomUUID());
    expect(await verifyByArchive(example.receipt)).toMatchObject({
      code: 1,
      err: expect.stringContaining("(key_unknown)"),
    });
    await archiveKeyOf(tenantId);
    const { code, out } = await verifyByArchive(example.receipt);
    expect([code, out]).toEqual([0, expect.stringMatching(/^The receipt is valid\.\n/)]);
  });

  test("rejects what is no receipt", async () => {
    expect(await verifyByArchive("malformed")).toMatchObject({
      code: 1,
      err: expect.stringContaining("(malformed)"),
    });
  });

  test("names the alternative where there is no database of the issuer", async () => {
    expect(await verify([file])).toMatchObject({ code: 1, err: expect.stringContaining("--jwks <file>") });
  });
});

test("a dependent application verifies receipts with @stile-auth/stile/receipt", async () => {
  const application = join(folder, "application");
  const scope = join(application, "node_modules", "@stile-auth");
  mkdirSync(scope, { recursive: true });
  symlinkSync(root, join(scope, "stile"));
  const program = join(application, "check.mjs");
  writeFileSync(
    program,
    `import { receiptRejections, verifyReceipt } from "@stile-auth/stile/receipt";
     const { receipt, jwks } = ${JSON.stringify(example)};
     const good = verifyReceipt(receipt, { jwks });
     const bad = verifyReceipt(receipt + "A", { jwks });
     console.log(JSON.stringify([good.receipt.transactionId, bad.code in receiptRejections]));`,
  );
  const { code, out, err } = await run(process.execPath, [program], nowhere());
  expect([code, err, out.trim()]).toEqual([0, "", '["order-2041",true]']);
});
