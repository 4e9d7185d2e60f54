import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { createVault, UnknownKeyError } from "../../keys/vault.ts";
import { failureSubject } from "../../limits/failure-counters.ts";
import type { RequestContext } from "../../runtime.ts";
import { hotp } from "../../testing/authenticator-app.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { readPng } from "../../testing/qr-reading.ts";
import { requestContext } from "../../testing/request-context.ts";
import { testClient } from "../../testing/runtime.ts";
import { insertUser } from "../../testing/users.ts";
import { commitWrites } from "../../testing/writes.ts";
import {
  confirmTotp,
  deleteTotp,
  insertTotp,
  newTotpSecret,
  showTotp,
  totpSealContext,
  verifyTotp,
} from "./totp.ts";
import { totpUri } from "./totp-qr-code.ts";

const runtime = await runtimeForTests();

const start = 1_893_499_200;
const withLimits = { STILE_RATE_LIMITER_ENABLED: "true" };

/** @param seconds since 1970 */
const scopeAt = (seconds = start, settings: Record<string, string> = {}, source = testClient.source) =>
  requestContext(runtime.configured(settings), { now: new Date(seconds * 1000), source });

const write = (...changes: Write[]) => commitWrites(runtime, ...changes);

const someUser = () => insertUser(runtime, new Date(start * 1000));

interface Owner {
  userId: string;
  secret: Buffer;
  /** The code of the time step this many steps after `start`. */
  code(step?: number): string;
}

/** A user whose app was set up long ago. */
async function owner(secret?: Buffer): Promise<Owner> {
  const userId = await someUser();
  const context = totpSealContext(runtime.tenant.id, userId);
  const sealed = secret
    ? runtime.vault.seal(secret, context).toString("base64url")
    : newTotpSecret(scopeAt(), userId);
  await write(insertTotp(scopeAt(), userId, { sealed, lastStep: 0 }));
  const opened = runtime.vault.unseal(Buffer.from(sealed, "base64url"), context);
  return { userId, secret: opened, code: (step = 0) => hotp(opened, start / 30 + step) };
}

/** Verifies a code, and consumes it if it is correct. */
async function enter(context: RequestContext, userId: string, code: string): Promise<string> {
  const judged = await verifyTotp(context, { userId, code });
  if (!judged.ok) return judged.reason;
  await write(judged.write);
  return "right";
}

const wrongOf = (...codes: string[]) =>
  ["000000", "111111", "222222", "333333", "444444"].find((code) => !codes.includes(code)) ?? "";
const wrongFor = (one: Owner) => wrongOf(one.code(-1), one.code(), one.code(1));

describe("a code", () => {
  test("is that of RFC 6238, appendix B", async () => {
    const secret = Buffer.from("12345678901234567890");
    const vectors: [number, string][] = [
      [59, "94287082"],
      [1_111_111_109, "07081804"],
      [1_111_111_111, "14050471"],
      [1_234_567_890, "89005924"],
      [2_000_000_000, "69279037"],
      [20_000_000_000, "65353130"],
    ];
    const { userId } = await owner(secret);
    for (const [seconds, eightDigits] of vectors) {
      expect(hotp(secret, Math.floor(seconds / 30), 8)).toBe(eightDigits);
      expect(await enter(scopeAt(seconds), userId, eightDigits.slice(2))).toBe("right");
    }
  });

  test("A108 is accepted for the current, previous and next time step only", async () => {
    for (const [step, result] of [
      [-2, "wrong"],
      [-1, "right"],
      [0, "right"],
      [1, "right"],
      [2, "wrong"],
    ] as const) {
      const one = await owner();
      expect([step, await enter(scopeAt(), one.userId, one.code(step))]).toEqual([step, result]);
    }
  });

  test("A21 is not counted at a server without the key of the secret", async () => {
    const one = await owner();
    const scope = scopeAt(start, withLimits);
    const without = {
      ...scope,
      runtime: { ...scope.runtime, vault: createVault(["another key for tests"]) },
    };
    for (let attempt = 0; attempt < 6; attempt += 1)
      await expect(verifyTotp(without, { ...one, code: "000000" })).rejects.toThrow(UnknownKeyError);
    const { rows } = await runtime.database.read.$client.query(
      "select count(*)::int as counters from failures where subject = any ($1)",
      [failureSubject(without.runtime.vault, runtime.tenant.id, { secondFactorOf: one.userId })],
    );
    expect(rows).toEqual([{ counters: 0 }]);
  });

  test("A108 counts by the clock of the database: the last second of a step and the first of the next differ", async () => {
    const one = await owner();
    expect(await enter(scopeAt(start + 60), one.userId, one.code())).toBe("wrong");
    expect(await enter(scopeAt(start + 59.999), one.userId, one.code())).toBe("right");
  });

  test("A108 is accepted once, and rejects older codes from then on", async () => {
    const one = await owner();
    expect(await enter(scopeAt(), one.userId, one.code())).toBe("right");
    expect(await enter(scopeAt(start + 1), one.userId, one.code())).toBe("already_used");
    expect(await enter(scopeAt(start + 29), one.userId, one.code(-1))).toBe("already_used");
    expect(await enter(scopeAt(start + 30), one.userId, one.code())).toBe("already_used");
    expect(await enter(scopeAt(start + 31), one.userId, one.code(1))).toBe("right");
  });

  test("A108 is consumed by one of two flows that verified it concurrently", async () => {
    const one = await owner();
    const judged = await Promise.all([1, 2].map(() => verifyTotp(scopeAt(), { ...one, code: one.code() })));
    const writes = judged.flatMap((verdict) => (verdict.ok ? [verdict.write] : []));
    expect(writes).toHaveLength(2);
    const [first, second] = await Promise.allSettled(writes.map((change) => write(change)));
    expect([first?.status, second?.status].sort()).toEqual(["fulfilled", "rejected"]);
    const reason = [first, second].flatMap((one) => (one?.status === "rejected" ? [one.reason] : []));
    expect(reason).toEqual([new ConflictError("otp")]);
  });

  test("A108 is accepted in exactly one of 50 concurrent attempts", async () => {
    const one = await owner();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () =>
        enter(scopeAt(), one.userId, one.code()).catch((error: unknown) =>
          error instanceof ConflictError ? "too late" : Promise.reject(error),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "right")).toHaveLength(1);
  });

  test("A108 A94 is wrong, without counting an attempt, with five digits, other digits or surrounding characters", async () => {
    const one = await owner();
    const context = scopeAt(start, withLimits);
    const code = one.code();
    for (const disguise of [
      code.slice(1),
      `0${code}`,
      ` ${code}`,
      `${code}\n`,
      code.replace(/./g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      code.replace(/./g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
      "1e5000",
      "",
      "x".repeat(100_000),
    ]) {
      expect(await enter(context, one.userId, disguise)).toBe("wrong");
    }
    expect(await enter(context, one.userId, code)).toBe("right");
  });

  test("is wrong for another account, another tenant or an account without an app", async () => {
    const [one, other] = [await owner(), await owner()];
    expect(await enter(scopeAt(), one.userId, other.code())).toBe("wrong");
    const elsewhere = { ...scopeAt(), tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await enter(elsewhere, one.userId, one.code())).toBe("wrong");
    expect(await enter(scopeAt(), await someUser(), one.code())).toBe("wrong");
  });

  test("is not consumed if its app was replaced or deleted concurrently", async () => {
    for (const replaced of [true, false]) {
      const one = await owner();
      const judged = await verifyTotp(scopeAt(), { ...one, code: one.code() });
      if (!judged.ok) throw new Error("the correct code was rejected");
      const sealed = newTotpSecret(scopeAt(), one.userId);
      await write(deleteTotp(scopeAt(), one.userId));
      if (replaced) await write(insertTotp(scopeAt(), one.userId, { sealed, lastStep: 0 }));
      await expect(write(judged.write)).rejects.toThrow(new ConflictError("otp"));
    }
  });

  test("violates the primary key if another app is set up concurrently", async () => {
    const { userId } = await owner();
    const sealed = newTotpSecret(scopeAt(), userId);
    await expect(write(insertTotp(scopeAt(), userId, { sealed, lastStep: 0 }))).rejects.toMatchObject({
      cause: { constraint: "totp_secrets_tenant_id_user_id_pk" },
    });
  });
});

describe("wrong codes", () => {
  test("are verified three times a minute from one source, with a decreasing wait", async () => {
    const one = await owner();
    const at = (seconds: number) => scopeAt(start + seconds, withLimits);
    for (let tries = 0; tries < 3; tries++) {
      expect(await enter(at(tries), one.userId, wrongFor(one))).toBe("wrong");
    }
    expect(await verifyTotp(at(3), { ...one, code: one.code() })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 57,
    });
    expect(await verifyTotp(at(59), { ...one, code: one.code() })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await enter(at(60), one.userId, one.code(2))).toBe("right");
  });

  test("are verified five times in five minutes, across sources and flows", async () => {
    const one = await owner();
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        enter(scopeAt(start, withLimits, `198.51.100.${index}`), one.userId, wrongFor(one)),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "wrong")).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(195);
    const late = scopeAt(start + 299, withLimits);
    expect(await verifyTotp(late, { ...one, code: one.code(10) })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await enter(scopeAt(start + 300, withLimits), one.userId, one.code(10))).toBe("right");
  });

  test("A16 stay counted when the step that verified them fails", async () => {
    const one = await owner();
    const context = scopeAt(start, withLimits);
    for (let tries = 0; tries < 3; tries++) {
      await expect(
        runtime.database.write.transaction(async () => {
          await verifyTotp(context, { ...one, code: wrongFor(one) });
          throw new Error("the step failed");
        }),
      ).rejects.toThrow("the step failed");
    }
    expect(await enter(context, one.userId, one.code())).toBe("rate_limited");
  });

  test("A16 include a correct code whose step fails, and the code stays valid", async () => {
    const one = await owner();
    const context = scopeAt(start, withLimits);
    for (let tries = 0; tries < 2; tries++) {
      expect(await verifyTotp(context, { ...one, code: one.code() })).toMatchObject({ ok: true });
    }
    expect(await enter(context, one.userId, one.code())).toBe("right");
  });

  test("do not include correct codes, so that many sign-ins never wait", async () => {
    const one = await owner();
    for (let step = 0; step < 10; step++) {
      const context = scopeAt(start + step, withLimits);
      // A new app for each, since codes come once in thirty seconds.
      const fresh = newTotpSecret(context, one.userId);
      await write(
        deleteTotp(context, one.userId),
        insertTotp(context, one.userId, { sealed: fresh, lastStep: 0 }),
      );
      const sealContext = totpSealContext(context.tenant.id, one.userId);
      const secret = runtime.vault.unseal(Buffer.from(fresh, "base64url"), sealContext);
      expect(await enter(context, one.userId, hotp(secret, start / 30))).toBe("right");
    }
  });

  test("lock the app after 100 consecutive ones, with an unchanged verdict, if there is another second factor", async () => {
    const one = await owner();
    for (let tries = 0; tries < 100; tries++) {
      const context = scopeAt(start + tries * 300, withLimits, `198.51.100.${tries}`);
      expect(
        await enter(context, one.userId, wrongOf(...[-1, 0, 1].map((step) => one.code(tries * 10 + step)))),
      ).toBe("wrong");
    }
    const context = scopeAt(start + 100 * 300, withLimits);
    const code = one.code(1000);
    expect(await verifyTotp(context, { ...one, code, hasAlternative: true })).toEqual({
      ok: false,
      reason: "wrong",
    });
    // An attacker can lock a method, never an account.
    expect(await verifyTotp(context, { ...one, code, hasAlternative: false })).toMatchObject({ ok: true });
  });
});

describe("setting up", () => {
  test("creates secrets of 160 bits, sealed for their account", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const sealed = newTotpSecret(scopeAt(), one);
    const open = (userId: string) =>
      runtime.vault.unseal(Buffer.from(sealed, "base64url"), totpSealContext(runtime.tenant.id, userId));
    expect(open(one)).toHaveLength(20);
    expect(() => open(other)).toThrow();
    expect(newTotpSecret(scopeAt(), one)).not.toBe(sealed);
  });

  test("A109 shows the secret in base 32 and as a complete QR code", async () => {
    const userId = randomUUID();
    const sealed = newTotpSecret(scopeAt(), userId);
    const shown = await showTotp(scopeAt(), { userId, sealed, account: "ada@example.com" });
    expect(shown.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(await showTotp(scopeAt(), { userId, sealed, account: "ada@example.com" })).toEqual(shown);
    const [head, body = ""] = shown.image.split(",");
    expect(head).toBe("data:image/png;base64");
    const secret = shown.secret;
    const uri = totpUri({
      service: scopeAt().tenant.config.service.name,
      account: "ada@example.com",
      secret,
    });
    expect(readPng(Buffer.from(body, "base64"))).toEqual({
      width: 200,
      height: 200,
      text: uri,
      colours: ["000000", "ffffff"],
    });
  });

  test("renders a QR code for any service name and account name", async () => {
    const userId = randomUUID();
    const sealed = newTotpSecret(scopeAt(), userId);
    for (const name of ["", ":", "Ada: & Söhne", "🔑".repeat(300), "\ud83d", "a".repeat(5000)]) {
      const context = scopeAt(start, { STILE_SERVICE_NAME: name });
      const { image } = await showTotp(context, {
        userId,
        sealed,
        account: `${"a".repeat(242)}@example.com`,
      });
      expect(image).toMatch(/^data:image\/png;base64,/);
    }
  });

  test("names the service and the account to the app, each without a colon", () => {
    const uri = new URL(totpUri({ service: "Acme: Portal", account: "ada@example.com", secret: "MFRGG===" }));
    expect(uri.protocol).toBe("otpauth:");
    expect(uri.host).toBe("totp");
    expect(decodeURIComponent(uri.pathname)).toBe("/Acme  Portal:ada@example.com");
    expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: "MFRGG===", issuer: "Acme  Portal" });
  });

  test("is confirmed by a code, which is consumed", async () => {
    const userId = await someUser();
    const sealed = newTotpSecret(scopeAt(), userId);
    const context = totpSealContext(runtime.tenant.id, userId);
    const secret = runtime.vault.unseal(Buffer.from(sealed, "base64url"), context);
    const code = (step: number) => hotp(secret, start / 30 + step);
    const wrong = await confirmTotp(scopeAt(), { userId, sealed, code: wrongOf(code(-1), code(0), code(1)) });
    expect(wrong).toEqual({ ok: false, reason: "wrong" });
    expect(await confirmTotp(scopeAt(), { userId, sealed, code: "12345" })).toEqual({
      ok: false,
      reason: "wrong",
    });
    const confirmed = await confirmTotp(scopeAt(), { userId, sealed, code: code(0) });
    if (!confirmed.ok) throw new Error("the correct code was rejected");
    expect(confirmed.confirmed).toEqual({ sealed, lastStep: start / 30 });
    // A109 An unconfirmed secret is not accepted.
    expect(await enter(scopeAt(), userId, code(0))).toBe("wrong");
    await write(insertTotp(scopeAt(), userId, confirmed.confirmed), confirmed.write);
    expect(await enter(scopeAt(), userId, code(0))).toBe("already_used");
    expect(await enter(scopeAt(), userId, code(1))).toBe("right");
  });

  test("limits wrong codes as signing in does", async () => {
    const userId = await someUser();
    const context = scopeAt(start, withLimits);
    const sealed = newTotpSecret(context, userId);
    const secret = runtime.vault.unseal(
      Buffer.from(sealed, "base64url"),
      totpSealContext(runtime.tenant.id, userId),
    );
    const code = wrongOf(...[-1, 0, 1].map((step) => hotp(secret, start / 30 + step)));
    for (let tries = 0; tries < 3; tries++) {
      expect(await confirmTotp(context, { userId, sealed, code })).toEqual({ ok: false, reason: "wrong" });
    }
    expect(await confirmTotp(context, { userId, sealed, code })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 60,
    });
  });

  test("stores no secret in plain text", async () => {
    const one = await owner();
    const { rows } = await runtime.database.read.$client.query(
      "select sealed_secret from totp_secrets where user_id = $1",
      [one.userId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].sealed_secret.includes(one.secret)).toBe(false);
  });
});
