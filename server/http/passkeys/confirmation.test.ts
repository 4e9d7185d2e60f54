import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { confirmationPage } from "../../passkey-server/confirmation.ts";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type CoseKey, signWith } from "../../testing/cose-key.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import type { GetCall } from "../../testing/webauthn-authenticator.ts";
import { base64url } from "../../testing/webauthn-json.ts";
import { signedBytes } from "../../testing/webauthn-messages.ts";

let runtime: TestRuntime;
let application: PasskeyApplication;

const redirectTo = "https://shop.example/paid?cart=1";
const settings = { STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.example/**?*" };

beforeAll(async () => {
  runtime = await testRuntime(settings);
  application = await passkeyApplication(runtime);
});

afterAll(() => runtime.close());

const problem = (status: number, title: unknown, details: unknown = expect.any(String)) => ({
  status,
  title,
  details,
});

const canonical = '{"amount":"12.00","to":"Grace"}';

/** A user, and a transaction that our page asks them about. */
async function started(by = application, more: object = {}) {
  const userId = randomUUID();
  const registered = await by.register(userId);
  const transactionId = randomUUID();
  const { status, body } = await by.call("POST", "/transaction/initialize", {
    user_id: userId,
    transaction_id: transactionId,
    transaction_data: { to: "Grace", amount: "12.00" },
    confirmation: { redirect_to: redirectTo },
    ...more,
  });
  const url = new URL(body.confirmation_url ?? "https://none.example");
  return {
    userId,
    ...registered,
    transactionId,
    status,
    options: body,
    url,
    token: url.searchParams.get("token") ?? "",
  };
}

type Started = Awaited<ReturnType<typeof started>>;

const ownPage = { "sec-fetch-site": "same-origin" };
const say = (body: unknown, by = application) =>
  by.callWithoutKey("POST", "/transaction/confirm", body, ownPage);
const redeem = (code: unknown, by = application) => by.call("POST", "/transaction/redeem", { code });

/** The browser's answer, as our page passes it on. */
function agree(who: Started, call: Partial<GetCall> = {}, options: unknown = who.options) {
  const credential = who.authenticator.get(options, { origin: application.origin, ...call });
  return say({ token: who.token, credential });
}

const codeOf = ({ body }: { body: { redirect_to: string } }) =>
  new URL(body.redirect_to).searchParams.get("code");

/** How often the audit log says that somebody agreed. */
async function agreements({ userId }: Started): Promise<number> {
  const type = "webauthn_transaction_final_succeeded";
  const { headers } = await application.call("GET", `/audit_logs?type=${type}&q=${userId}`);
  return Number(headers.get("x-total-count"));
}

const pageOf = ({ token }: Pick<Started, "token">) =>
  confirmationPage({ runtime, tenant: runtime.tenant }, token);

async function rowOf(token: string) {
  const hash = createHash("sha256").update(token).digest();
  const [row] = await runtime.database.read
    .select()
    .from(schema.transactionConfirmations)
    .where(eq(schema.transactionConfirmations.pageTokenHash, hash));
  return row;
}

describe("transaction/initialize with a confirmation", () => {
  test("also gives the address of a page, whose token is kept as a hash alone", async () => {
    const { status, options, url, token } = await started();
    expect(status).toBe(200);
    expect(Object.keys(options).sort()).toEqual(["confirmation_url", "publicKey"]);
    expect(url.origin + url.pathname).toBe(`${runtime.config.base_url}/confirm`);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await rowOf(token)).toMatchObject({
      redirectTo,
      codeHash: null,
      sealedResult: null,
      answeredAt: null,
    });
  });

  test("lives as long as the page, and so does the challenge", async () => {
    const patient = runtime.configured({ ...settings, STILE_PASSKEY_SERVER_CONFIRMATION_TTL: "10m" });
    const { options } = await started(await passkeyApplication(patient));
    expect(options.publicKey.timeout).toBe(600_000);
  });

  test("takes what the address says of an answer for none", async () => {
    const address = `${redirectTo}&code=x&error=y&code=z&transaction_id=t`;
    const more = { confirmation: { redirect_to: address } };
    const [agreed, declined] = [await started(application, more), await started(application, more)];
    const told = async (answer: ReturnType<typeof say>) => [
      ...new URL((await answer).body.redirect_to).searchParams.keys(),
    ];
    expect(await told(agree(agreed))).toEqual(["cart", "transaction_id", "code"]);
    expect(await told(say({ token: declined.token, declined: true }))).toEqual([
      "cart",
      "transaction_id",
      "error",
    ]);
  });

  test.each([
    ["that is not on the list", "https://evil.example/"],
    ["A46 that hides its host", "https://shop.example@evil.example/"],
    ["A46 that is a script", "javascript:alert(1)"],
    ["A46 without a scheme", "//evil.example/"],
    ["with a fragment", "https://shop.example/a?b#c"],
    ["with a backslash", "https:\\\\shop.example/a?b"],
  ])("is 400 for an address to go back to %s", async (_, redirect_to) => {
    const { status, options } = await started(application, { confirmation: { redirect_to } });
    expect([status, options]).toEqual([
      400,
      problem(
        400,
        "unable to validate request",
        "confirmation.redirect_to is not an allowed address (hosted.allowed_redirect_urls)",
      ),
    ]);
  });

  test("is 400 with a clear sentence where our page is none of the relying party's", async () => {
    const elsewhere = runtime.configured({
      ...settings,
      STILE_PASSKEY_SERVER_RELYING_PARTY_ID: "shop.example",
      STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS: "https://shop.example",
    });
    const { options } = await started(await passkeyApplication(elsewhere));
    expect(options.details).toBe(
      "confirmation: the page at http://localhost:3000 cannot use this relying party's passkeys: it is not one of its origins (passkey_server.relying_party.origins)",
    );
    expect(options.status).toBe(400);
  });

  test("leads to the page of a tenant that lies under a path", async () => {
    const tenant = await createTenant(runtime, {
      name: "Other",
      hosts: [],
      settings: { hosted: { allowed_redirect_urls: ["https://shop.example/**?*"] } },
    });
    const other = await passkeyApplication(runtime, tenant);
    const { url, token, authenticator, options } = await started(other);
    expect(url.pathname).toBe(`/t/${tenant.id}/confirm`);
    expect(await confirmationPage({ runtime, tenant }, token)).toMatchObject({ state: "open" });
    expect(await pageOf({ token })).toEqual({ state: "unknown" });
    const credential = authenticator.get(options, { origin: other.origin });
    expect((await say({ token, credential })).body).toEqual(problem(404, "confirmation not found", ""));
    expect((await say({ token, credential }, other)).status).toBe(200);
  });
});

describe("the page", () => {
  test("A69 is told what is signed, whose it is, and how to ask, and looking spends nothing", async () => {
    const who = await started();
    const shown = {
      state: "open",
      transactionId: who.transactionId,
      application: runtime.config.passkey_server.relying_party.display_name,
      user: { name: `${who.userId}!`, displayName: `${who.userId}!` },
      data: canonical,
      returnsTo: "shop.example",
      publicKey: { ...who.options.publicKey, timeout: expect.any(Number) },
    };
    expect(await pageOf(who)).toEqual(shown);
    expect(await pageOf(who)).toEqual(shown);
  });

  test("is told how it ended", async () => {
    expect(await pageOf({ token: "" })).toEqual({ state: "unknown" });
    expect(await pageOf({ token: "x\0".repeat(500) })).toEqual({ state: "unknown" });
    const [agreed, declined, left] = [await started(), await started(), await started()];
    await agree(agreed);
    await say({ token: declined.token, declined: true });
    runtime.advanceClock(301);
    expect(await pageOf(agreed)).toEqual({ state: "confirmed", returnsTo: null });
    expect(await pageOf(declined)).toEqual({ state: "declined", returnsTo: null });
    expect(await pageOf(left)).toEqual({ state: "expired" });
  });
});

describe("a yes", () => {
  test("leads back with a code, which the application redeems once for token and receipt", async () => {
    const who = await started();
    const { status, body } = await agree(who);
    expect(status).toBe(200);
    const back = new URL(body.redirect_to);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      cart: "1",
      code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      transaction_id: who.transactionId,
    });
    expect(back.origin + back.pathname).toBe("https://shop.example/paid");

    const code = back.searchParams.get("code");
    const sealed = (await rowOf(who.token))?.sealedResult?.toString("latin1") ?? "";
    const redeemed = await redeem(code);
    expect(redeemed).toMatchObject({ status: 200, body: { transaction_id: who.transactionId } });
    expect(decodeJwt(redeemed.body.token)).toMatchObject({ sub: who.userId, trans: who.transactionId });
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    expect(verifyReceipt(redeemed.body.receipt, { jwks })).toMatchObject({
      ok: true,
      receipt: { canonicalData: canonical },
    });
    expect(sealed).not.toContain(redeemed.body.receipt.slice(-40));
    expect(await rowOf(who.token)).toMatchObject({ codeHash: null, sealedResult: null });
    expect((await redeem(code)).body).toEqual(problem(400, "unable to redeem code"));
  });

  test("A69 ends the page: of ten at once, one is taken, and none after it", async () => {
    const who = await started();
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => say({ token: who.token, credential })),
    );
    expect(await agreements(who)).toBe(1);
    const codes = answers.filter(({ status }) => status === 200).map(codeOf);
    const redeemed = await Promise.all(codes.map((code) => redeem(code)));
    expect(redeemed.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const more of [{ credential }, { declined: true }, { resume: true }])
      expect((await say({ token: who.token, ...more })).body).toEqual(
        problem(409, "confirmation was answered before", ""),
      );
    expect(await agreements(who)).toBe(1);
  });

  test.each<[string, Partial<GetCall>]>([
    ["nobody was verified", { userVerified: false }],
    ["the signature is broken", { brokenSignature: true }],
    ["the page was another", { origin: "https://evil.example" }],
  ])(
    "that is refused because %s loses nothing: the page asks once more, with a fresh challenge",
    async (_, call) => {
      const who = await started();
      const { status, body } = await agree(who, call);
      expect([status, body.title]).toEqual([401, "failed to validate assertion"]);
      const { challenge } = body.publicKey;
      expect(challenge).not.toBe(who.options.publicKey.challenge);
      const [before, after] = [who.options.publicKey.challenge, challenge].map((text) =>
        Buffer.from(text, "base64url"),
      );
      expect(after?.subarray(32)).toEqual(before?.subarray(32));
      expect(body.publicKey.timeout).toBeLessThanOrEqual(300_000);
      expect((await pageOf(who)) as object).toMatchObject({ state: "open", publicKey: { challenge } });
      expect((await agree(who, {}, body)).status).toBe(200);
    },
  );

  test("to a challenge that is used up gets another one, and leaves those of other transactions alone", async () => {
    const [one, two] = [await started(), await started()];
    const refused = await agree(one, { challenge: two.options.publicKey.challenge });
    expect(refused.body).toMatchObject({ status: 401, title: "failed to get session data" });
    expect((await agree(two)).status).toBe(200);
    expect((await agree(one)).body.title).toBe("failed to get session data");
    expect(
      (await agree(one, {}, { publicKey: ((await pageOf(one)) as { publicKey: object }).publicKey })).status,
    ).toBe(200);
  });

  test("that is no answer of a browser changes nothing", async () => {
    const who = await started();
    for (const credential of [{}, { id: "a" }, { ...who.answer }])
      expect((await say({ token: who.token, credential })).body).toEqual(
        problem(400, "unable to finish transaction", ""),
      );
    expect((await agree(who)).status).toBe(200);
  });

  test("comes too late after the page has expired", async () => {
    const who = await started();
    runtime.advanceClock(301);
    expect((await agree(who)).body).toEqual(problem(410, "confirmation has expired", ""));
    expect((await say({ token: who.token, declined: true })).status).toBe(410);
  });

  test("is taken only so often from one source, and nothing is lost by one that came too fast", async () => {
    const strict = runtime.configured({
      ...settings,
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_PASSKEY_CHALLENGES_PER_MINUTE: "2",
    });
    const by = await passkeyApplication(strict);
    const who = await started(by);
    const nonsense = { token: who.token, credential: { id: "a" } };
    for (const status of [400, 400, 429]) expect((await say(nonsense, by)).status).toBe(status);
    const slow = await say(nonsense, by);
    expect(Number(slow.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await agree(who)).status).toBe(200);
  });

  test("given to the application itself closes the page", async () => {
    const who = await started();
    const answer = who.authenticator.get(who.options, { origin: application.origin });
    expect((await application.call("POST", "/transaction/finalize", answer)).status).toBe(200);
    expect(await pageOf(who)).toEqual({ state: "confirmed", returnsTo: null });
    expect((await say({ token: who.token, declined: true })).status).toBe(409);
  });

  test("goes nowhere when the address was taken off the list meanwhile", async () => {
    const who = await started();
    const stricter = runtime.configured({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://other.example/" });
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    const { status, body } = await say({ token: who.token, credential }, await passkeyApplication(stricter));
    expect([status, body]).toEqual([200, { answer: "confirmed", redirect_to: null }]);
    const { tenant } = stricter;
    expect(await confirmationPage({ runtime: stricter, tenant }, who.token)).toEqual({
      state: "confirmed",
      returnsTo: null,
    });
  });

  test("whose client says two things at once leaves no receipt, and is none", async () => {
    const who = await started();
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    const { response } = credential;
    const said = Buffer.from(response.clientDataJSON, "base64url").toString();
    const other = Buffer.alloc(64).toString("base64url");
    const clientData = Buffer.from(said.replace("{", `{"challenge":"${other}",`));
    const key = who.authenticator.credentials[0]?.key as CoseKey;
    const signature = signWith(
      key,
      signedBytes(Buffer.from(response.authenticatorData, "base64url"), clientData),
    );
    const doubled = { clientDataJSON: base64url(clientData), signature: base64url(signature) };
    const { status, body } = await say({
      token: who.token,
      credential: { ...credential, response: { ...response, ...doubled } },
    });
    expect([status, body.details]).toEqual([401, "the receipt would be invalid: client_data_malformed"]);
    expect(await agreements(who)).toBe(0);
  });

  test("A68 is no yes at another tenant", async () => {
    const who = await started();
    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    expect((await say({ token: who.token, credential }, other)).status).toBe(404);
    const back = new URL((await say({ token: who.token, credential })).body.redirect_to);
    const code = back.searchParams.get("code");
    expect((await redeem(code, other)).status).toBe(400);
    expect((await redeem(code)).status).toBe(200);
  });
});

describe("a no", () => {
  test("leads back, says so, and ends page and transaction", async () => {
    const who = await started();
    const { status, body } = await say({ token: who.token, declined: true });
    expect(status).toBe(200);
    expect(Object.fromEntries(new URL(body.redirect_to).searchParams)).toEqual({
      cart: "1",
      error: "access_denied",
      transaction_id: who.transactionId,
    });
    expect((await agree(who)).body.answer).toBe("declined");
    const answer = who.authenticator.get(who.options, { origin: application.origin });
    expect((await application.call("POST", "/transaction/finalize", answer)).body).toEqual(
      problem(401, "failed to get session data"),
    );
    const { body: entries } = await application.call("GET", `/audit_logs?q=${who.userId}`);
    expect(entries.find(({ error }: { error?: string }) => error === "declined by the user")).toMatchObject({
      type: "webauthn_transaction_final_failed",
      transaction_id: who.transactionId,
    });
  });

  test("and a yes at once are one of both, and both hear which", async () => {
    for (let round = 0; round < 5; round++) {
      const who = await started();
      const [yes, no] = await Promise.all([agree(who), say({ token: who.token, declined: true })]);
      expect(yes.body.answer).toBe(no.body.answer);
      expect(await pageOf(who)).toEqual({ state: yes.body.answer, returnsTo: "shop.example" });
      expect(await agreements(who)).toBe(yes.body.answer === "confirmed" ? 1 : 0);
    }
  });
});

describe("a lost answer", () => {
  test("to a yes: whoever shows the token again within a minute is sent back once more, with a fresh code", async () => {
    const who = await started();
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    const lost = codeOf(await say({ token: who.token, credential }));
    expect(await pageOf(who)).toEqual({ state: "confirmed", returnsTo: "shop.example" });
    const again = await say({ token: who.token, credential });
    expect(again.body).toEqual({ answer: "confirmed", redirect_to: expect.any(String) });
    runtime.advanceClock(50);
    const last = codeOf(await say({ token: who.token, resume: true }));
    expect(new Set([lost, codeOf(again), last]).size).toBe(3);
    for (const worthless of [lost, codeOf(again)]) expect((await redeem(worthless)).status).toBe(400);
    // The last code has a minute of its own.
    runtime.advanceClock(50);
    expect((await redeem(last)).body).toMatchObject({ transaction_id: who.transactionId });
    expect(await agreements(who)).toBe(1);
  });

  test("to a yes that is still being judged: it may be sent again, and counts once", async () => {
    const who = await started();
    const credential = who.authenticator.get(who.options, { origin: application.origin });
    const answers = await Promise.all([1, 2, 3].map(() => say({ token: who.token, credential })));
    const asking = answers.find(({ body }) => body.publicKey)?.body ?? who.options;
    const { body } = await agree(who, {}, asking);
    expect(body.answer).toBe("confirmed");
    expect((await redeem(codeOf({ body }))).status).toBe(200);
    expect(await agreements(who)).toBe(1);
  });

  test("to a no: the same, without a code", async () => {
    const who = await started();
    const first = await say({ token: who.token, declined: true });
    const page = { state: "declined", returnsTo: "shop.example" };
    expect(await pageOf(who)).toEqual(page);
    for (const more of [{ declined: true }, { resume: true }])
      expect((await say({ token: who.token, ...more })).body).toEqual(first.body);
    const { body: entries } = await application.call("GET", `/audit_logs?q=${who.userId}`);
    expect(entries.filter(({ error }: { error?: string }) => error === "declined by the user")).toHaveLength(
      1,
    );
  });

  test("to a yes that was taken for lost and followed by a no: the yes counts, and is told", async () => {
    const who = await started();
    await agree(who);
    const { body } = await say({ token: who.token, declined: true });
    expect(body.answer).toBe("confirmed");
    expect((await redeem(codeOf({ body }))).status).toBe(200);
  });

  test.each<[string, "yes" | "no"]>([
    ["a yes", "yes"],
    ["a no", "no"],
  ])("to %s: nobody is sent back after a minute", async (_, kind) => {
    const who = await started();
    await (kind === "yes" ? agree(who) : say({ token: who.token, declined: true }));
    runtime.advanceClock(61);
    expect(await pageOf(who)).toMatchObject({ returnsTo: null });
    expect((await say({ token: who.token, resume: true })).body).toEqual(
      problem(409, "confirmation was answered before", ""),
    );
  });

  test("nobody is sent back from a page that is open, was never there, or is another tenant's", async () => {
    const who = await started();
    expect((await say({ token: who.token, resume: true })).body).toEqual(
      problem(409, "confirmation was not answered yet", ""),
    );
    expect((await say({ token: "x", resume: true })).status).toBe(404);
    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    const code = codeOf(await agree(who));
    expect((await say({ token: who.token, resume: true }, other)).status).toBe(404);
    expect((await redeem(code)).status).toBe(200);
  });

  test("of ten who ask at once for the way back, one has a code that is good", async () => {
    const who = await started();
    await agree(who);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => say({ token: who.token, resume: true })),
    );
    const statuses: number[] = [];
    for (const answer of answers) statuses.push((await redeem(codeOf(answer))).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe("transaction/confirm", () => {
  test("is for our own page alone", async () => {
    const { token } = await started();
    const body = { token, declined: true };
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { origin: "https://shop.example" }]) {
      const answer = await application.callWithoutKey("POST", "/transaction/confirm", body, headers);
      expect(answer.status).toBe(403);
    }
    const origin = new URL(runtime.config.base_url).origin;
    expect((await application.callWithoutKey("POST", "/transaction/confirm", body, { origin })).status).toBe(
      200,
    );
  });

  test.each<[unknown, string]>([
    [{}, "token is a required field"],
    [{ token: "x" }, "exactly one of credential, declined and resume is a required field"],
    [
      { token: "x", declined: true, credential: {} },
      "exactly one of credential, declined and resume is a required field",
    ],
    [
      { token: "x", declined: true, resume: true },
      "exactly one of credential, declined and resume is a required field",
    ],
    [{ token: "x", resume: 1 }, "resume must be true"],
    [{ token: "x", declined: false }, "declined must be true"],
    [{ token: "x", credential: "yes" }, "credential must be an object"],
    [{ token: ["x"], declined: true }, "token must be a string"],
    ["[]", "the body must be a JSON object"],
  ])("is 400 for %j", async (body, details) => {
    expect((await say(body)).body).toEqual(problem(400, "unable to validate request", details));
  });

  test.each(["x", "x".repeat(43), "__proto__"])("is 404 for the token %j", async (token) => {
    expect((await say({ token, declined: true })).body).toEqual(problem(404, "confirmation not found", ""));
  });
});

describe("transaction/redeem", () => {
  test("of ten at once with the same code, one has what it is good for", async () => {
    const { body } = await agree(await started());
    const code = new URL(body.redirect_to).searchParams.get("code");
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  });

  test("is 400 after a minute", async () => {
    const { body } = await agree(await started());
    runtime.advanceClock(61);
    const code = new URL(body.redirect_to).searchParams.get("code");
    expect((await redeem(code)).body).toEqual(problem(400, "unable to redeem code"));
  });

  test.each([["x"], ["x".repeat(43)], [7], [null], [["x"]], ["a\0"]])(
    "is 400 for the code %j",
    async (code) => {
      expect((await redeem(code)).status).toBe(400);
    },
  );
});
