import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { createVault, UnknownKeyError } from "../../keys/vault.ts";
import type { MailJob } from "../../mail/mail-job.ts";
import type { PasscodeMail } from "../../mail/messages.ts";
import type { RequestContext } from "../../runtime.ts";
import { markAccount } from "../../sessions/account-marks.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { testClient as client } from "../../testing/runtime.ts";
import { commitWrites } from "../../testing/writes.ts";
import { byMail } from "./by-mail.ts";
import { newPasscode } from "./new-passcode.ts";
import type { PasscodeSubject } from "./passcode-channel.ts";
import {
  ensurePasscodeSent,
  type PasscodeSending,
  type PasscodeVerdict,
  resendPasscode,
  verifyPasscode,
} from "./passcodes.ts";

const runtime = await runtimeForTests();

const start = new Date("2030-01-01T12:00:00.000Z");
const withLimits = { STILE_RATE_LIMITER_ENABLED: "true" };

const scopeAt = (seconds = 0, settings: Record<string, string> = {}, source = client.source) =>
  requestContext(runtime.configured(settings), { now: new Date(start.getTime() + seconds * 1000), source });

type MailSubject = PasscodeSubject<PasscodeMail, MailJob>;

function subjectOf(changes: Partial<MailSubject> = {}): MailSubject {
  const identifier = `${randomUUID()}@example.com`;
  return {
    channel: byMail,
    flowId: randomUUID(),
    purpose: "login",
    recipient: identifier,
    identifier,
    userId: randomUUID(),
    decoy: false,
    ...changes,
  };
}

const write = (changes: Write[]) => commitWrites(runtime, ...changes);

async function admitted(sending: Promise<PasscodeSending<MailJob>>) {
  const sent = await sending;
  if (!sent.ok) throw new Error(`rate limited for ${sent.retryAfterSeconds} s`);
  return sent;
}

const resultOf = (verdict: PasscodeVerdict) => (verdict.ok ? "right" : verdict.reason);

/** Writes the code and reads it from the mail. */
async function delivered(sending: Promise<PasscodeSending<MailJob>>): Promise<string> {
  const { writes, jobs } = await admitted(sending);
  await write(writes);
  const [job] = jobs;
  if (!job || !("code" in job.mail)) throw new Error("no code was mailed");
  return job.mail.code;
}

const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

describe("a passcode", () => {
  test("is mailed to the recipient in the client's language, with its lifetime", async () => {
    const about = subjectOf({ purpose: "recovery" });
    const scope = { ...scopeAt(), client: { ...client, language: "de" as const } };
    const sent = await admitted(ensurePasscodeSent(scope, about));
    expect(sent.jobs).toEqual([
      {
        name: "send_mail",
        tenantId: scope.tenant.id,
        to: about.recipient,
        language: "de",
        mail: { type: "recovery", code: expect.stringMatching(/^[0-9]{6}$/), ttlSeconds: 300 },
        withoutWebhooks: false,
      },
    ]);
  });

  test("is accepted once", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const judged = await verifyPasscode(scopeAt(), about, code);
    if (!judged.ok) throw new Error("the code was rejected");
    await write([judged.write]);
    await expect(write([judged.write])).rejects.toThrow(new ConflictError("passcode"));
    expect(await verifyPasscode(scopeAt(), about, code)).toEqual({ ok: false, reason: "wrong" });
  });

  test("is exhausted by the third wrong attempt", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const results = [];
    for (let attempt = 0; attempt < 4; attempt++)
      results.push(await verifyPasscode(scopeAt(), about, wrongOf(code)));
    // A11 The correct code comes too late.
    results.push(await verifyPasscode(scopeAt(), about, code));
    expect(results.map(resultOf)).toEqual(["wrong", "wrong", "exhausted", "exhausted", "exhausted"]);
  });

  test("is accepted at the third attempt", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    for (let attempt = 0; attempt < 2; attempt++) await verifyPasscode(scopeAt(), about, wrongOf(code));
    expect(await verifyPasscode(scopeAt(), about, code)).toMatchObject({ ok: true });
  });

  test("expires after its lifetime, to the millisecond", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await verifyPasscode(scopeAt(300), about, code)).toEqual({ ok: false, reason: "wrong" });
    expect(await verifyPasscode(scopeAt(299.999), about, code)).toMatchObject({ ok: true });
  });

  test("A94 does not match with other digits, other encodings, or surrounding characters", async () => {
    for (const disguise of [
      (code: string) => code.replace(/./g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (code: string) => code.replace(/./g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
      (code: string) => ` ${code}`,
      (code: string) => `${code}\0`,
      (code: string) => `0${code}`,
      () => "",
      () => "x".repeat(100_000),
    ]) {
      const about = subjectOf();
      const code = await delivered(ensurePasscodeSent(scopeAt(), about));
      expect(await verifyPasscode(scopeAt(), about, disguise(code))).toEqual({ ok: false, reason: "wrong" });
    }
  });

  test("A14 is accepted for its own flow, purpose, mailbox and tenant only", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const elsewhere = { ...scopeAt(), tenant: { ...scopeAt().tenant, id: randomUUID() } };
    const others: [RequestContext, MailSubject][] = [
      [scopeAt(), { ...about, flowId: randomUUID() }],
      [scopeAt(), { ...about, purpose: "recovery" }],
      [scopeAt(), { ...about, recipient: "other@example.com" }],
      [scopeAt(), { ...about, recipient: null }],
      [elsewhere, about],
    ];
    for (const [context, other] of others) {
      await write((await admitted(ensurePasscodeSent(context, other))).writes);
      expect(await verifyPasscode(context, other, code)).toEqual({ ok: false, reason: "wrong" });
    }
    expect(await verifyPasscode(scopeAt(), about, code)).toMatchObject({ ok: true });
  });

  test("is not stored in plain text", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const { rows } = await runtime.database.read.$client.query("select * from passcodes where flow_id = $1", [
      about.flowId,
    ]);
    expect(rows).toHaveLength(1);
    const values = Object.values(rows[0]).map((value) =>
      Buffer.isBuffer(value) ? value.toString("latin1") : String(value),
    );
    expect(values.join("|")).not.toContain(code);
    expect(values.join("|")).not.toContain("example.com");
  });
});

describe("sending", () => {
  test("A35 happens once while the code is valid, even if no attempts are left", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await ensurePasscodeSent(scopeAt(10), about)).toEqual({ ok: true, writes: [], jobs: [] });
    // Going back and forth restores no attempts.
    for (let attempt = 0; attempt < 3; attempt++) {
      await verifyPasscode(scopeAt(), about, wrongOf(code));
      expect(await ensurePasscodeSent(scopeAt(20), about)).toEqual({ ok: true, writes: [], jobs: [] });
    }
    expect(await verifyPasscode(scopeAt(), about, code)).toEqual({ ok: false, reason: "exhausted" });
  });

  test("happens again after the code has expired", async () => {
    const about = subjectOf();
    const first = await delivered(ensurePasscodeSent(scopeAt(), about));
    const second = await delivered(ensurePasscodeSent(scopeAt(300), about));
    expect(await verifyPasscode(scopeAt(301), about, second)).toMatchObject({ ok: true });
    expect(second === first || resultOf(await verifyPasscode(scopeAt(301), about, first))).not.toBe("right");
  });

  test("A15 A22 a new code replaces the previous one and has a full lifetime and three attempts", async () => {
    const about = subjectOf();
    const first = await delivered(ensurePasscodeSent(scopeAt(), about));
    for (let attempt = 0; attempt < 3; attempt++) await verifyPasscode(scopeAt(299), about, wrongOf(first));
    let second = await delivered(resendPasscode(scopeAt(299), about));
    while (second === first) second = await delivered(resendPasscode(scopeAt(299), about));
    expect(await verifyPasscode(scopeAt(299), about, first)).toEqual({ ok: false, reason: "wrong" });
    expect(await verifyPasscode(scopeAt(598), about, second)).toMatchObject({ ok: true });
  });

  test("A15 a verified code that was replaced concurrently is not consumed", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const judged = await verifyPasscode(scopeAt(), about, code);
    await delivered(resendPasscode(scopeAt(), about));
    if (!judged.ok) throw new Error("the code was rejected");
    await expect(write([judged.write])).rejects.toThrow(new ConflictError("passcode"));
  });

  test("A21 consumes a rate token each time and is rejected without one; the previous code stays valid", async () => {
    const context = scopeAt(0, withLimits);
    const about = subjectOf();
    await delivered(ensurePasscodeSent(context, about));
    await delivered(resendPasscode(context, about));
    const code = await delivered(resendPasscode(context, about));
    const rejected = await resendPasscode(context, about);
    expect(rejected).toEqual({ ok: false, reason: "rate_limited", retryAfterSeconds: expect.any(Number) });
    expect(rejected.ok ? 0 : rejected.retryAfterSeconds).toBeGreaterThan(0);
    expect(await ensurePasscodeSent(context, about)).toEqual({ ok: true, writes: [], jobs: [] });
    expect(await verifyPasscode(context, about, code)).toMatchObject({ ok: true });
    // The limit is per account and source, over all flows.
    const again = { ...about, flowId: randomUUID() };
    expect((await ensurePasscodeSent(context, again)).ok).toBe(false);
    expect((await ensurePasscodeSent(scopeAt(0, withLimits, "198.51.100.1"), again)).ok).toBe(true);
  });

  test("A21 from one source to many addresses stops at 60 an hour, without consuming the addresses' tokens", async () => {
    const flooder = scopeAt(0, withLimits, "203.0.113.66");
    let sent = 0;
    for (let address = 0; address < 70; address++) {
      if ((await ensurePasscodeSent(flooder, subjectOf())).ok) sent += 1;
    }
    expect(sent).toBe(60);
    const victim = subjectOf();
    for (let attempt = 0; attempt < 5; attempt++)
      await ensurePasscodeSent(flooder, { ...victim, flowId: randomUUID() });
    expect((await ensurePasscodeSent(scopeAt(0, withLimits, "192.0.2.200"), victim)).ok).toBe(true);
  });
});

test("A21 a server without the key of the code that was sent consumes no token", async () => {
  const about = subjectOf();
  const scope = scopeAt(0, withLimits);
  await delivered(ensurePasscodeSent(scope, about));
  const consumed = async () => {
    const { rows } = await runtime.database.read.$client.query(
      "select sum(points)::int as points from rate_counters where key like 'passcode_%'",
    );
    return rows[0].points;
  };
  const before = await consumed();
  const vault = createVault(["another key for tests"]);
  const without = { ...scope, runtime: { ...scope.runtime, vault } };
  await expect(ensurePasscodeSent(without, about)).rejects.toThrow(UnknownKeyError);
  expect(await consumed()).toBe(before);
});

describe("without an account", () => {
  const unknown = (changes: Partial<MailSubject> = {}): MailSubject => {
    const { userId: _, ...rest } = subjectOf({ decoy: true, notice: "email_login_attempted", ...changes });
    return rest;
  };

  test("A1 a notice without a code is mailed, and a row is written as for an account", async () => {
    const about = unknown();
    const sent = await admitted(ensurePasscodeSent(scopeAt(), about));
    expect(sent.jobs).toEqual([
      expect.objectContaining({ to: about.recipient, mail: { type: "email_login_attempted" } }),
    ]);
    await write(sent.writes);
    expect(await ensurePasscodeSent(scopeAt(), about)).toEqual({ ok: true, writes: [], jobs: [] });
  });

  test("A1 without a recipient or a notice there is a job that mails nothing", async () => {
    const { notice: _, ...silent } = unknown();
    for (const about of [silent, unknown({ recipient: null })]) {
      expect((await admitted(ensurePasscodeSent(scopeAt(), about))).jobs).toMatchObject([
        { name: "send_mail", to: null },
      ]);
    }
  });

  test("A1 attempts get the same verdicts as for an account", async () => {
    const about = unknown();
    await write((await admitted(ensurePasscodeSent(scopeAt(), about))).writes);
    const results = [];
    for (let attempt = 0; attempt < 4; attempt++)
      results.push(resultOf(await verifyPasscode(scopeAt(), about, "123456")));
    expect(results).toEqual(["wrong", "wrong", "exhausted", "exhausted"]);
  });

  test("A5 too many mails and attempts get the same verdicts as for an account", async () => {
    const context = scopeAt(0, withLimits);
    const about = unknown();
    const limited = [];
    for (let mail = 0; mail < 5; mail++) limited.push(!(await resendPasscode(context, about)).ok);
    expect(limited).toEqual([false, false, false, true, true]);
    const results = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      if (attempt === 0) await write((await admitted(resendPasscode(scopeAt(), about))).writes);
      results.push(resultOf(await verifyPasscode(context, about, "123456")));
    }
    expect(results).toEqual(["wrong", "wrong", "exhausted", "exhausted", "exhausted"]);
  });

  test("rejects the code that was sent", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await verifyPasscode(scopeAt(), { ...about, decoy: true }, code)).toEqual({
      ok: false,
      reason: "wrong",
    });
  });
});

describe("races", () => {
  test("A13 of 50 concurrent correct attempts exactly one consumes the code", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const judged = await verifyPasscode(scopeAt(), about, code);
        if (!judged.ok) return judged.reason;
        return write([judged.write]).then(
          () => "taken",
          (error: unknown) => (error instanceof ConflictError ? "too late" : Promise.reject(error)),
        );
      }),
    );
    expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(1);
  });

  test("A11 of 50 concurrent wrong attempts three are verified", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const results = await Promise.all(
      Array.from({ length: 50 }, () => verifyPasscode(scopeAt(), about, wrongOf(code))),
    );
    expect(results.filter((verdict) => resultOf(verdict) === "wrong")).toHaveLength(2);
    expect(results.filter((verdict) => resultOf(verdict) === "exhausted")).toHaveLength(48);
  });

  test("A12 A21 of 1000 concurrent requests from 1000 sources in 1000 flows ten get a code", async () => {
    const account = subjectOf();
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        resendPasscode(scopeAt(0, withLimits, `10.0.${index >> 8}.${index & 255}`), {
          ...account,
          flowId: randomUUID(),
        }),
      ),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(10);
  });

  test("A12 codes to verify one address for many new accounts count together, without a verdict", async () => {
    const address = `${randomUUID()}@example.com`;
    const sendings = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ensurePasscodeSent(
          scopeAt(0, withLimits, `10.1.0.${index}`),
          subjectOf({ purpose: "email_verification", recipient: address }),
        ),
      ),
    );
    const mailed = sendings.flatMap((sent) => (sent.ok ? sent.jobs : [])).filter(({ to }) => to === address);
    expect(sendings.filter(({ ok }) => ok)).toHaveLength(20);
    expect(mailed).toHaveLength(10);
  });
});

describe("a code that is withheld", () => {
  test("is stored like any other, and no code is correct", async () => {
    const mailbox = `${randomUUID()}@example.com`;
    const about = (index: number) =>
      subjectOf({ purpose: "email_verification", recipient: mailbox, flowId: flows[index] ?? "" });
    const flows = Array.from({ length: 11 }, () => randomUUID());
    for (let index = 0; index < 10; index++)
      await write(
        (await admitted(resendPasscode(scopeAt(0, withLimits, `10.2.0.${index}`), about(index)))).writes,
      );
    const eleventh = about(10);
    const sent = await admitted(resendPasscode(scopeAt(0, withLimits, "10.2.0.10"), eleventh));
    expect(sent.jobs).toEqual([expect.objectContaining({ to: null })]);
    await write(sent.writes);
    const [job] = sent.jobs;
    if (!job || !("code" in job.mail)) throw new Error("the job has another form than that of a code");
    expect(await verifyPasscode(scopeAt(), eleventh, job.mail.code)).toEqual({ ok: false, reason: "wrong" });
  });
});

describe("the account's failures", () => {
  /** Enters wrong codes, three for each new code. */
  async function failFrom(source: string, account: MailSubject, times: number): Promise<void> {
    for (let failed = 0; failed < times; failed += 3) {
      const about = { ...account, flowId: randomUUID() };
      const code = await delivered(resendPasscode(scopeAt(), about));
      for (let attempt = 0; attempt < Math.min(3, times - failed); attempt++)
        await verifyPasscode(scopeAt(0, withLimits, source), about, wrongOf(code));
    }
  }

  const requestFrom = (source: string, account: MailSubject, seconds = 0) =>
    ensurePasscodeSent(scopeAt(seconds, withLimits, source), { ...account, flowId: randomUUID() });

  test("A15 A128 of one source, ten in an hour, end its codes for the account, and of no other source", async () => {
    const account = subjectOf();
    await failFrom("203.0.113.5", account, 9);
    expect((await requestFrom("203.0.113.5", account)).ok).toBe(true);
    await failFrom("203.0.113.5", account, 1);
    expect(await requestFrom("203.0.113.5", account, 60)).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 3540,
    });
    expect((await requestFrom("203.0.113.5", subjectOf(), 60)).ok).toBe(true);
    expect((await requestFrom("203.0.113.6", account, 60)).ok).toBe(true);
    expect((await requestFrom("203.0.113.5", account, 3600)).ok).toBe(true);
  });

  test("A128 never keep a code that was sent from being correct", async () => {
    const account = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(0, withLimits), account));
    await failFrom(client.source, account, 150);
    expect(
      await verifyPasscode(scopeAt(0, withLimits), { ...account, hasAlternative: true }, code),
    ).toMatchObject({ ok: true });
  });

  test("stay counted for an hour after a success, which is not counted itself", async () => {
    const account = subjectOf();
    await failFrom("203.0.113.7", account, 9);
    for (let round = 0; round < 2; round++) {
      const about = { ...account, flowId: randomUUID() };
      const code = await delivered(resendPasscode(scopeAt(), about));
      const right = await verifyPasscode(scopeAt(0, withLimits, "203.0.113.7"), about, code);
      if (!right.ok) throw new Error("the code was rejected");
      await write([right.write]);
    }
    expect((await requestFrom("203.0.113.7", account)).ok).toBe(true);
    await failFrom("203.0.113.7", account, 1);
    expect((await requestFrom("203.0.113.7", account)).ok).toBe(false);
  });

  test("A20 withhold codes after 100 in a row, without a verdict, if the account has another method", async () => {
    const account = subjectOf();
    for (let source = 0; source < 20; source++) await failFrom(`10.3.0.${source}`, account, 5);
    const request = async (hasAlternative: boolean, browser = {}) => {
      const context = scopeAt(7200, withLimits, "10.3.1.1");
      const about = { ...account, flowId: randomUUID(), hasAlternative };
      return (
        await admitted(ensurePasscodeSent({ ...context, client: { ...context.client, ...browser } }, about))
      ).jobs;
    };
    expect(await request(true)).toEqual([expect.objectContaining({ to: null })]);
    expect(await request(false)).toEqual([expect.objectContaining({ to: account.recipient })]);
    const { value } = markAccount(scopeAt(), account.userId ?? "", null);
    expect(await request(true, { markCookie: value })).toEqual([
      expect.objectContaining({ to: account.recipient }),
    ]);
  });
});

describe("A23 passcodes", () => {
  const codes = Array.from({ length: 100_000 }, () => newPasscode({ randomBytes }, "numeric"));

  test("are six decimal digits, leading zeros included", () => {
    expect(codes.every((code) => /^[0-9]{6}$/.test(code))).toBe(true);
    expect(codes.some((code) => code.startsWith("0"))).toBe(true);
  });

  test("are uniformly distributed in every place", () => {
    for (let place = 0; place < 6; place++) {
      const counts = new Map<string, number>();
      for (const code of codes) counts.set(code[place] ?? "", (counts.get(code[place] ?? "") ?? 0) + 1);
      const expected = codes.length / 10;
      const chiSquare = [...counts.values()].reduce(
        (sum, count) => sum + (count - expected) ** 2 / expected,
        0,
      );
      expect(counts.size).toBe(10);
      // Nine degrees of freedom: a fair source exceeds this once in ten million times.
      expect(chiSquare).toBeLessThan(50);
    }
  });

  test("do not repeat more often than expected", () => {
    // 100 000 out of a million: about 95 163 distinct ones, give or take 60.
    expect(Math.abs(new Set(codes).size - 95_163)).toBeLessThan(500);
  });

  test("are generated again if a remainder would be biased", () => {
    const draws = [Buffer.from("ffffff", "hex"), Buffer.from("f42400", "hex"), Buffer.from("f423ff", "hex")];
    expect(newPasscode({ randomBytes: () => draws.shift() ?? Buffer.alloc(3) }, "numeric")).toBe("999999");
    expect(draws).toEqual([]);
    expect(newPasscode({ randomBytes: () => Buffer.alloc(3) }, "numeric")).toBe("000000");
  });
});

describe("A23 alphanumeric passcodes", () => {
  const settings = { STILE_EMAIL_PASSCODE_CHARSET: "alphanumeric" };
  const codes = Array.from({ length: 50_000 }, () => newPasscode({ randomBytes }, "alphanumeric"));

  test("are six digits or capital letters, none of them easily confused", () => {
    expect(codes.find((code) => !/^[2-9A-HJKMNP-Z]{6}$/.test(code))).toBeUndefined();
  });

  test("are uniformly distributed in every place", () => {
    for (let place = 0; place < 6; place++) {
      const counts = new Map<string, number>();
      for (const code of codes) counts.set(code[place] ?? "", (counts.get(code[place] ?? "") ?? 0) + 1);
      const expected = codes.length / 31;
      const chiSquare = [...counts.values()].reduce(
        (sum, count) => sum + (count - expected) ** 2 / expected,
        0,
      );
      expect(counts.size).toBe(31);
      // Thirty degrees of freedom: a fair source exceeds this once in a hundred million times.
      expect(chiSquare).toBeLessThan(97);
    }
  });

  test("are sent if the setting says so", async () => {
    const sent = [];
    // A code without a letter is one in 3400.
    for (let count = 0; count < 10; count++)
      sent.push(await delivered(ensurePasscodeSent(scopeAt(0, settings), subjectOf())));
    expect(sent.join("")).toMatch(/[A-Z]/);
  });

  test("are accepted in capital and in small letters, and rejected with another character", async () => {
    for (const typed of [(code: string) => code, (code: string) => code.toLowerCase()]) {
      const about = subjectOf();
      const code = await delivered(ensurePasscodeSent(scopeAt(0, settings), about));
      const other = `${code.slice(0, 5)}${code.endsWith("2") ? "3" : "2"}`;
      expect(await verifyPasscode(scopeAt(1, settings), about, typed(other))).toMatchObject({ ok: false });
      expect((await verifyPasscode(scopeAt(2, settings), about, typed(code))).ok).toBe(true);
    }
  });

  test("A94 do not match letters of other scripts", async () => {
    const about = subjectOf();
    const code = await delivered(ensurePasscodeSent(scopeAt(0, settings), about));
    const wide = code.replaceAll(/./g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));
    expect(await verifyPasscode(scopeAt(1, settings), about, wide)).toEqual({ ok: false, reason: "wrong" });
  });
});
