import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { countFailure, failureSubject, unlimited } from "../limits/failure-counters.ts";
import type { RequestContext } from "../runtime.ts";
import { someone, type TestRuntime, testRuntime } from "../testing/runtime.ts";
import {
  ensurePasscodeSent,
  newPasscode,
  type PasscodeSending,
  type PasscodeSubject,
  resendPasscode,
  verifyPasscode,
} from "./passcodes.ts";

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime();
});
afterAll(() => runtime.close());

const start = new Date("2030-01-01T12:00:00.000Z");
const withLimits = { STILE_RATE_LIMITER_ENABLED: "true" };

function scopeAt(
  seconds = 0,
  settings: Record<string, string> = {},
  source = someone.source,
): RequestContext {
  const configured = runtime.configured(settings);
  return {
    runtime: configured,
    tenant: configured.tenant,
    client: { ...someone, source },
    now: new Date(start.getTime() + seconds * 1000),
    signal: new AbortController().signal,
  };
}

function somebody(changes: Partial<PasscodeSubject> = {}): PasscodeSubject {
  const identifier = `${randomUUID()}@example.com`;
  return {
    flowId: randomUUID(),
    purpose: "login",
    recipient: identifier,
    identifier,
    userId: randomUUID(),
    decoy: false,
    ...changes,
  };
}

const write = (changes: Write[]) =>
  runtime.database.write.transaction(async (tx) => {
    for (const change of changes) await change(tx);
  });

/** Writes what was to be sent, and reads the code out of the mail. */
async function delivered(sent: Promise<PasscodeSending>): Promise<string> {
  const { writes, jobs } = await sent;
  await write(writes);
  const [job] = jobs;
  if (!job || !("code" in job.mail)) throw new Error("no code was mailed");
  return job.mail.code;
}

const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

describe("a code", () => {
  test("goes to the recipient, in the client's language, with its lifetime", async () => {
    const about = somebody({ purpose: "recovery" });
    const scope = { ...scopeAt(), client: { ...someone, language: "de" as const } };
    const sent = await ensurePasscodeSent(scope, about);
    expect(sent.jobs).toEqual([
      {
        name: "send_mail",
        tenantId: scope.tenant.id,
        to: about.recipient,
        language: "de",
        mail: { type: "recovery", code: expect.stringMatching(/^[0-9]{6}$/), ttlSeconds: 300 },
      },
    ]);
  });

  test("is right once", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const judged = await verifyPasscode(scopeAt(), about, code);
    if (judged.result !== "right") throw new Error("the code was right");
    await write([judged.take]);
    await expect(write([judged.take])).rejects.toThrow(new ConflictError("passcode"));
    expect(await verifyPasscode(scopeAt(), about, code)).toEqual({ result: "wrong" });
  });

  test("is wrong once and twice, exhausted the third time, and dead then", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const results = [];
    for (let attempt = 0; attempt < 4; attempt++)
      results.push(await verifyPasscode(scopeAt(), about, wrongOf(code)));
    // A11 the right one is too late.
    results.push(await verifyPasscode(scopeAt(), about, code));
    expect(results.map(({ result }) => result)).toEqual([
      "wrong",
      "wrong",
      "exhausted",
      "exhausted",
      "exhausted",
    ]);
  });

  test("may be right at the third try", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    for (let attempt = 0; attempt < 2; attempt++) await verifyPasscode(scopeAt(), about, wrongOf(code));
    expect(await verifyPasscode(scopeAt(), about, code)).toMatchObject({ result: "right" });
  });

  test("lives as long as it is said to, to the millisecond", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await verifyPasscode(scopeAt(300), about, code)).toEqual({ result: "wrong" });
    expect(await verifyPasscode(scopeAt(299.999), about, code)).toMatchObject({ result: "right" });
  });

  test("A94 does not match in other digits, other forms, or with anything around it", async () => {
    for (const disguise of [
      (code: string) => code.replace(/./g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (code: string) => code.replace(/./g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
      (code: string) => ` ${code}`,
      (code: string) => `${code}\0`,
      (code: string) => `0${code}`,
      () => "",
      () => "x".repeat(100_000),
    ]) {
      const about = somebody();
      const code = await delivered(ensurePasscodeSent(scopeAt(), about));
      expect(await verifyPasscode(scopeAt(), about, disguise(code))).toEqual({ result: "wrong" });
    }
  });

  test("A14 counts in its own flow, purpose, mailbox and tenant only", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const elsewhere = { ...scopeAt(), tenant: { ...scopeAt().tenant, id: randomUUID() } };
    const others: [RequestContext, PasscodeSubject][] = [
      [scopeAt(), { ...about, flowId: randomUUID() }],
      [scopeAt(), { ...about, purpose: "recovery" }],
      [scopeAt(), { ...about, recipient: "other@example.com" }],
      [scopeAt(), { ...about, recipient: null }],
      [elsewhere, about],
    ];
    for (const [context, other] of others) {
      await write((await ensurePasscodeSent(context, other)).writes);
      expect(await verifyPasscode(context, other, code)).toEqual({ result: "wrong" });
    }
    expect(await verifyPasscode(scopeAt(), about, code)).toMatchObject({ result: "right" });
  });

  test("is not in the database", async () => {
    const about = somebody();
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
  test("happens once, however often it is ensured, even when the tries are used up", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await ensurePasscodeSent(scopeAt(10), about)).toEqual({ writes: [], jobs: [] });
    // A35 going back and forth gives no tries back.
    for (let attempt = 0; attempt < 3; attempt++) {
      await verifyPasscode(scopeAt(), about, wrongOf(code));
      expect(await ensurePasscodeSent(scopeAt(20), about)).toEqual({ writes: [], jobs: [] });
    }
    expect(await verifyPasscode(scopeAt(), about, code)).toEqual({ result: "exhausted" });
  });

  test("happens again when the code has expired", async () => {
    const about = somebody();
    const first = await delivered(ensurePasscodeSent(scopeAt(), about));
    const second = await delivered(ensurePasscodeSent(scopeAt(300), about));
    expect(await verifyPasscode(scopeAt(301), about, second)).toMatchObject({ result: "right" });
    expect(second === first || (await verifyPasscode(scopeAt(301), about, first)).result).not.toBe("right");
  });

  test("A15 A22 another code kills the one before, and lives a whole life with three tries", async () => {
    const about = somebody();
    const first = await delivered(ensurePasscodeSent(scopeAt(), about));
    for (let attempt = 0; attempt < 3; attempt++) await verifyPasscode(scopeAt(299), about, wrongOf(first));
    let second = await delivered(resendPasscode(scopeAt(299), about));
    while (second === first) second = await delivered(resendPasscode(scopeAt(299), about));
    expect(await verifyPasscode(scopeAt(299), about, first)).toEqual({ result: "wrong" });
    expect(await verifyPasscode(scopeAt(598), about, second)).toMatchObject({ result: "right" });
  });

  test("A15 a right code that was replaced before it was taken is not taken", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const judged = await verifyPasscode(scopeAt(), about, code);
    await delivered(resendPasscode(scopeAt(), about));
    if (judged.result !== "right") throw new Error("the code was right");
    await expect(write([judged.take])).rejects.toThrow(new ConflictError("passcode"));
  });

  test("A21 takes one token each time, and is refused when there is none; an earlier code stays good", async () => {
    const context = scopeAt(0, withLimits);
    const about = somebody();
    await delivered(ensurePasscodeSent(context, about));
    await delivered(resendPasscode(context, about));
    const code = await delivered(resendPasscode(context, about));
    const refused = await resendPasscode(context, about);
    expect(refused).toEqual({
      writes: [],
      jobs: [],
      limited: expect.objectContaining({ retryAfterSeconds: expect.any(Number) }),
    });
    expect(refused.limited?.retryAfterSeconds).toBeGreaterThan(0);
    expect(await ensurePasscodeSent(context, about)).toEqual({ writes: [], jobs: [] });
    expect(await verifyPasscode(context, about, code)).toMatchObject({ result: "right" });
    // The address is what counts, whichever flow or source asks for it.
    const elsewhere = await ensurePasscodeSent(scopeAt(0, withLimits, "198.51.100.1"), {
      ...about,
      flowId: randomUUID(),
    });
    expect(elsewhere.limited).toBeDefined();
  });

  test("A21 from one source to many addresses ends at 60 in an hour, and spends no address's tokens then", async () => {
    const flooder = scopeAt(0, withLimits, "203.0.113.66");
    let sent = 0;
    for (let address = 0; address < 70; address++) {
      if (!(await ensurePasscodeSent(flooder, somebody())).limited) sent += 1;
    }
    expect(sent).toBe(60);
    const victim = somebody();
    for (let attempt = 0; attempt < 5; attempt++)
      await ensurePasscodeSent(flooder, { ...victim, flowId: randomUUID() });
    expect((await ensurePasscodeSent(scopeAt(0, withLimits, "192.0.2.200"), victim)).limited).toBeUndefined();
  });
});

describe("where no account is", () => {
  const unknown = (changes: Partial<PasscodeSubject> = {}): PasscodeSubject => {
    const { userId: _, ...rest } = somebody({ decoy: true, notice: "email_login_attempted", ...changes });
    return rest;
  };

  test("A1 a notice is mailed, without a code, and a row is written all the same", async () => {
    const about = unknown();
    const sent = await ensurePasscodeSent(scopeAt(), about);
    expect(sent.jobs).toEqual([
      expect.objectContaining({ to: about.recipient, mail: { type: "email_login_attempted" } }),
    ]);
    await write(sent.writes);
    expect(await ensurePasscodeSent(scopeAt(), about)).toEqual({ writes: [], jobs: [] });
  });

  test("A1 without a recipient or a notice there is a job all the same, which goes to nobody", async () => {
    const { notice: _, ...silent } = unknown();
    for (const about of [silent, unknown({ recipient: null })]) {
      expect((await ensurePasscodeSent(scopeAt(), about)).jobs).toMatchObject([
        { name: "send_mail", to: null },
      ]);
    }
  });

  test("A1 tries are answered as anywhere else", async () => {
    const about = unknown();
    await write((await ensurePasscodeSent(scopeAt(), about)).writes);
    const results = [];
    for (let attempt = 0; attempt < 4; attempt++)
      results.push((await verifyPasscode(scopeAt(), about, "123456")).result);
    expect(results).toEqual(["wrong", "wrong", "exhausted", "exhausted"]);
  });

  test("A5 too many mails and too many tries are answered as anywhere else", async () => {
    const context = scopeAt(0, withLimits);
    const about = unknown();
    const limited = [];
    for (let mail = 0; mail < 5; mail++)
      limited.push((await resendPasscode(context, about)).limited !== undefined);
    expect(limited).toEqual([false, false, false, true, true]);
    const results = [];
    for (let flow = 0; flow < 12; flow++) {
      results.push((await verifyPasscode(context, { ...about, flowId: randomUUID() }, "123456")).result);
    }
    expect(results).toEqual([...Array(10).fill("wrong"), "limited", "limited"]);
  });

  test("no code is right, even one that is", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    expect(await verifyPasscode(scopeAt(), { ...about, decoy: true }, code)).toEqual({ result: "wrong" });
  });
});

describe("races", () => {
  test("A13 of 50 right answers at once to one code exactly one takes it", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const judged = await verifyPasscode(scopeAt(), about, code);
        if (judged.result !== "right") return judged.result;
        return write([judged.take]).then(
          () => "taken",
          (error: unknown) => (error instanceof ConflictError ? "too late" : Promise.reject(error)),
        );
      }),
    );
    expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(1);
  });

  test("A11 of 50 wrong answers at once to one code three are judged", async () => {
    const about = somebody();
    const code = await delivered(ensurePasscodeSent(scopeAt(), about));
    const results = await Promise.all(
      Array.from({ length: 50 }, () => verifyPasscode(scopeAt(), about, wrongOf(code))),
    );
    expect(results.filter(({ result }) => result === "wrong")).toHaveLength(2);
    expect(results.filter(({ result }) => result === "exhausted")).toHaveLength(48);
  });

  test("A12 of 1000 tries spread over as many flows of one account ten are judged in an hour", async () => {
    const account = somebody();
    const context = scopeAt(0, withLimits);
    const flows = Array.from({ length: 1000 }, () => ({ ...account, flowId: randomUUID() }));
    await write(
      (await Promise.all(flows.map((about) => resendPasscode(scopeAt(), about)))).flatMap(
        ({ writes }) => writes,
      ),
    );
    const results = await Promise.all(flows.map((about) => verifyPasscode(context, about, "000000")));
    const limited = results.filter(({ result }) => result === "limited");
    expect(limited).toHaveLength(990);
    expect(limited[0]).toEqual({ result: "limited", retryAfterSeconds: 3600 });
  });

  test("A12 an address that is verified over many new accounts is one account to a guesser", async () => {
    const context = scopeAt(0, withLimits);
    const address = `${randomUUID()}@example.com`;
    const results = await Promise.all(
      Array.from({ length: 100 }, () =>
        verifyPasscode(context, somebody({ purpose: "email_verification", recipient: address }), "000000"),
      ),
    );
    expect(results.filter(({ result }) => result === "limited")).toHaveLength(90);
  });
});

describe("the account's failures", () => {
  test("A15 are kept by a new code and by a new flow", async () => {
    const context = scopeAt(0, withLimits);
    const account = somebody();
    let judged = 0;
    for (let flow = 0; flow < 6; flow++) {
      const about = { ...account, flowId: randomUUID() };
      const code = await delivered(resendPasscode(scopeAt(), about));
      for (let attempt = 0; attempt < 3; attempt++) {
        if ((await verifyPasscode(context, about, wrongOf(code))).result !== "limited") judged += 1;
      }
    }
    expect(judged).toBe(10);
  });

  test("in an hour are kept by a success, which itself is none", async () => {
    const context = scopeAt(0, withLimits);
    const account = somebody();
    let results = "";
    for (let round = 0; round < 12; round++) {
      const about = { ...account, flowId: randomUUID() };
      const code = await delivered(resendPasscode(scopeAt(), about));
      const wrong = await verifyPasscode(context, about, wrongOf(code));
      const right = await verifyPasscode(context, about, code);
      results += `${wrong.result[0]}${right.result[0]} `;
      if (right.result === "right") await write([right.take]);
    }
    // The tenth wrong one leaves no room for a right one.
    expect(results.trim()).toBe(`${"wr ".repeat(9)}wl ll ll`);
  });

  test("A35 an expired or absent code is a failure too, so that no flow gives free tries", async () => {
    const context = scopeAt(0, withLimits);
    const about = somebody();
    const results = [];
    for (let attempt = 0; attempt < 11; attempt++)
      results.push((await verifyPasscode(context, about, "123456")).result);
    expect(results).toEqual([...Array(10).fill("wrong"), "limited"]);
  });

  test("A20 a hundred in a row end codes as a way in, unseen, where there is another one", async () => {
    const context = scopeAt(0, withLimits);
    const about = somebody();
    const subject = failureSubject(runtime.vault, context.tenant.id, { userId: about.userId ?? "" });
    const key = { tenantId: context.tenant.id, method: "passcode", subject, source: "" } as const;
    for (let failure = 0; failure < 100; failure++)
      await countFailure(runtime.database, key, unlimited, start);
    const later = scopeAt(7200, withLimits);
    const again = await delivered(ensurePasscodeSent(later, about));
    expect(await verifyPasscode(later, { ...about, hasAlternative: true }, again)).toEqual({
      result: "wrong",
    });
    expect(await verifyPasscode(later, { ...about, hasAlternative: false }, again)).toMatchObject({
      result: "right",
    });
  });
});

describe("A23 codes", () => {
  const codes = Array.from({ length: 100_000 }, () => newPasscode({ randomBytes }));

  test("are six decimal digits, leading zeros included", () => {
    expect(codes.every((code) => /^[0-9]{6}$/.test(code))).toBe(true);
    expect(codes.some((code) => code.startsWith("0"))).toBe(true);
  });

  test("have every digit equally often in every place", () => {
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

  test("repeat no more than chance has it", () => {
    // 100 000 out of a million: about 95 163 distinct ones, give or take 60.
    expect(Math.abs(new Set(codes).size - 95_163)).toBeLessThan(500);
  });

  test("are drawn again where a remainder would favour some", () => {
    const draws = [Buffer.from("ffffff", "hex"), Buffer.from("f42400", "hex"), Buffer.from("f423ff", "hex")];
    expect(newPasscode({ randomBytes: () => draws.shift() ?? Buffer.alloc(3) })).toBe("999999");
    expect(draws).toEqual([]);
    expect(newPasscode({ randomBytes: () => Buffer.alloc(3) })).toBe("000000");
  });
});
