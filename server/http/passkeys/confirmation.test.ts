import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { confirmationPage } from "../../passkey-server/confirmation.ts";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { type CoseKey, signWith } from "../../testing/cose-key.ts";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";
import type { GetCall } from "../../testing/webauthn-authenticator.ts";
import { base64url } from "../../testing/webauthn-json.ts";
import { signedBytes } from "../../testing/webauthn-messages.ts";

const redirectTo = "https://shop.example/paid?cart=1";
const settings = { STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.example/**?*" };

const { runtime, application, newTenant } = await passkeySuite(settings);

const canonical = '{"amount":"12.00","to":"Grace"}';

/** Initializes a transaction of a new user with a confirmation on our page. */
async function startConfirmation(by = application, more: object = {}) {
  const userId = randomUUID();
  const registered = await by.register(userId);
  const transactionId = randomUUID();
  const { status, body } = await by.post("/transaction/initialize", {
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

type StartedConfirmation = Awaited<ReturnType<typeof startConfirmation>>;

const ownPage = { "sec-fetch-site": "same-origin" };
const answerPage = (body: unknown, by = application) =>
  by.postWithoutKey("/transaction/confirm", body, ownPage);
const redeem = (code: unknown, by = application) => by.post("/transaction/redeem", { code });

/** The browser's answer. */
const sign = (started: StartedConfirmation, call: Partial<GetCall> = {}, options = started.options) =>
  started.authenticator.get(options, { origin: application.origin, ...call });

// What our page sends.
const confirm = (started: StartedConfirmation, call: Partial<GetCall> = {}, options = started.options) =>
  answerPage({ token: started.token, credential: sign(started, call, options) });
const decline = ({ token }: StartedConfirmation) => answerPage({ token, declined: true });
const resume = ({ token }: StartedConfirmation, by = application) => answerPage({ token, resume: true }, by);

const answeredBefore = errorBody(409, "confirmation was answered before", "");

const tenTimes = <Result>(act: () => Promise<Result>) => Promise.all(Array.from({ length: 10 }, act));

const codeOf = ({ body }: { body: { redirect_to: string } }) =>
  new URL(body.redirect_to).searchParams.get("code");

/** The number of confirmed transactions of the user in the audit log. */
async function confirmationCount({ userId }: StartedConfirmation): Promise<number> {
  const type = "webauthn_transaction_final_succeeded";
  const { headers } = await application.get(`/audit_logs?type=${type}&q=${userId}`);
  return Number(headers.get("x-total-count"));
}

const pageOf = ({ token }: Pick<StartedConfirmation, "token">) =>
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
  test("also returns the address of a page and stores only the hash of its token", async () => {
    const { status, options, url, token } = await startConfirmation();
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

  test("gives the challenge the lifetime of the page", async () => {
    const longLived = runtime.configured({ ...settings, STILE_PASSKEY_SERVER_CONFIRMATION_TTL: "10m" });
    const { options } = await startConfirmation(await passkeyApplication(longLived));
    expect(options.publicKey.timeout).toBe(600_000);
  });

  test("replaces parameters of an answer in the redirect address", async () => {
    const address = `${redirectTo}&code=x&error=y&code=z&transaction_id=t`;
    const more = { confirmation: { redirect_to: address } };
    const [agreed, declined] = [
      await startConfirmation(application, more),
      await startConfirmation(application, more),
    ];
    const parameterNames = async (answer: ReturnType<typeof answerPage>) => [
      ...new URL((await answer).body.redirect_to).searchParams.keys(),
    ];
    expect(await parameterNames(confirm(agreed))).toEqual(["cart", "transaction_id", "code"]);
    expect(await parameterNames(decline(declined))).toEqual(["cart", "transaction_id", "error"]);
  });

  test.each([
    ["that is not allowed", "https://evil.example/"],
    ["A46 with user information", "https://shop.example@evil.example/"],
    ["A46 with the scheme javascript:", "javascript:alert(1)"],
    ["A46 without a scheme", "//evil.example/"],
    ["with a fragment", "https://shop.example/a?b#c"],
    ["with a backslash", "https:\\\\shop.example/a?b"],
  ])("rejects a redirect address %s", async (_, redirect_to) => {
    const { status, options } = await startConfirmation(application, { confirmation: { redirect_to } });
    expect([status, options]).toEqual([
      400,
      invalidRequest("confirmation.redirect_to is not an allowed address (hosted.allowed_redirect_urls)"),
    ]);
  });

  test("names the setting if our page is not an origin of the relying party", async () => {
    const otherOrigin = runtime.configured({
      ...settings,
      STILE_PASSKEY_SERVER_RELYING_PARTY_ID: "shop.example",
      STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS: "https://shop.example",
    });
    const { options } = await startConfirmation(await passkeyApplication(otherOrigin));
    expect(options.details).toBe(
      "confirmation: the page at http://localhost:3000 cannot use this relying party's passkeys: it is not one of its origins (passkey_server.relying_party.origins)",
    );
    expect(options.status).toBe(400);
  });

  test("returns the page under the path of the tenant", async () => {
    const other = await newTenant({ hosted: { allowed_redirect_urls: ["https://shop.example/**?*"] } });
    const { tenant } = other;
    const { url, token, authenticator, options } = await startConfirmation(other);
    expect(url.pathname).toBe(`/t/${tenant.id}/confirm`);
    expect(await confirmationPage({ runtime, tenant }, token)).toMatchObject({ state: "open" });
    expect(await pageOf({ token })).toEqual({ state: "unknown" });
    const credential = authenticator.get(options, { origin: other.origin });
    expect((await answerPage({ token, credential })).body).toEqual(
      errorBody(404, "confirmation not found", ""),
    );
    expect((await answerPage({ token, credential }, other)).status).toBe(200);
  });
});

describe("confirmationPage", () => {
  test("A69 shows data, user and options, and does not use up the challenge", async () => {
    const started = await startConfirmation();
    const shown = {
      state: "open",
      transactionId: started.transactionId,
      application: runtime.config.passkey_server.relying_party.display_name,
      user: { name: `${started.userId}!`, displayName: `${started.userId}!` },
      data: canonical,
      returnsTo: "shop.example",
      publicKey: {
        ...started.options.publicKey,
        timeout: expect.any(Number),
        userVerification: "required",
      },
    };
    expect(await pageOf(started)).toEqual(shown);
    expect(await pageOf(started)).toEqual(shown);
  });

  test("shows the outcome", async () => {
    expect(await pageOf({ token: "" })).toEqual({ state: "unknown" });
    expect(await pageOf({ token: "x\0".repeat(500) })).toEqual({ state: "unknown" });
    const [agreed, declined, left] = [
      await startConfirmation(),
      await startConfirmation(),
      await startConfirmation(),
    ];
    await confirm(agreed);
    await decline(declined);
    runtime.advanceClock(301);
    expect(await pageOf(agreed)).toEqual({ state: "confirmed", returnsTo: null });
    expect(await pageOf(declined)).toEqual({ state: "declined", returnsTo: null });
    expect(await pageOf(left)).toEqual({ state: "expired" });
  });
});

describe("a confirmation", () => {
  test("redirects with a code that the application redeems once for token and receipt", async () => {
    const started = await startConfirmation();
    const { status, body } = await confirm(started);
    expect(status).toBe(200);
    const back = new URL(body.redirect_to);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      cart: "1",
      code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      transaction_id: started.transactionId,
    });
    expect(back.origin + back.pathname).toBe("https://shop.example/paid");

    const code = back.searchParams.get("code");
    const sealed = (await rowOf(started.token))?.sealedResult?.toString("latin1") ?? "";
    const redeemed = await redeem(code);
    expect(redeemed).toMatchObject({ status: 200, body: { transaction_id: started.transactionId } });
    expect(decodeJwt(redeemed.body.token)).toMatchObject({
      sub: started.userId,
      trans: started.transactionId,
    });
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    expect(verifyReceipt(redeemed.body.receipt, { jwks })).toMatchObject({
      ok: true,
      receipt: { canonicalData: canonical },
    });
    expect(sealed).not.toContain(redeemed.body.receipt.slice(-40));
    expect(await rowOf(started.token)).toMatchObject({ codeHash: null, sealedResult: null });
    expect((await redeem(code)).body).toEqual(errorBody(400, "unable to redeem code"));
  });

  test("A69 closes the page: one of ten concurrent answers is accepted, and none afterwards", async () => {
    const started = await startConfirmation();
    const credential = sign(started);
    const answers = await tenTimes(() => answerPage({ token: started.token, credential }));
    expect(await confirmationCount(started)).toBe(1);
    const codes = answers.filter(({ status }) => status === 200).map(codeOf);
    const redeemed = await Promise.all(codes.map((code) => redeem(code)));
    expect(redeemed.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const more of [{ credential }, { declined: true }, { resume: true }])
      expect((await answerPage({ token: started.token, ...more })).body).toEqual(answeredBefore);
    expect(await confirmationCount(started)).toBe(1);
  });

  test.each<[string, Partial<GetCall>]>([
    ["the user is unverified", { userVerified: false }],
    ["the signature is broken", { brokenSignature: true }],
    ["the origin is another one", { origin: "https://evil.example" }],
  ])("that is rejected because %s gets a new challenge of the same transaction", async (_, call) => {
    const started = await startConfirmation();
    const { status, body } = await confirm(started, call);
    expect([status, body.title]).toEqual([401, "failed to validate assertion"]);
    const { challenge } = body.publicKey;
    expect(challenge).not.toBe(started.options.publicKey.challenge);
    const [before, after] = [started.options.publicKey.challenge, challenge].map((text) =>
      Buffer.from(text, "base64url"),
    );
    expect(after?.subarray(32)).toEqual(before?.subarray(32));
    expect(body.publicKey.timeout).toBeLessThanOrEqual(300_000);
    expect((await pageOf(started)) as object).toMatchObject({ state: "open", publicKey: { challenge } });
    expect((await confirm(started, {}, body)).status).toBe(200);
  });

  test("of a used-up challenge gets a new one, and does not affect other transactions", async () => {
    const [one, two] = [await startConfirmation(), await startConfirmation()];
    const rejected = await confirm(one, { challenge: two.options.publicKey.challenge });
    expect(rejected.body).toMatchObject({ status: 401, title: "failed to get session data" });
    expect((await confirm(two)).status).toBe(200);
    expect((await confirm(one)).body.title).toBe("failed to get session data");
    expect(
      (await confirm(one, {}, { publicKey: ((await pageOf(one)) as { publicKey: object }).publicKey }))
        .status,
    ).toBe(200);
  });

  test("that is malformed is rejected and changes nothing", async () => {
    const started = await startConfirmation();
    for (const [credential, details] of [
      [{}, "id is missing"],
      [{ id: "a" }, "rawId is missing"],
      [{ id: "a", rawId: 5 }, "rawId must be a string"],
    ])
      expect((await answerPage({ token: started.token, credential })).body).toEqual(
        errorBody(400, "unable to finish transaction", details),
      );
    expect((await confirm(started)).status).toBe(200);
  });

  test("is rejected after the page has expired", async () => {
    const started = await startConfirmation();
    runtime.advanceClock(301);
    expect((await confirm(started)).body).toEqual(errorBody(410, "confirmation has expired", ""));
    expect((await decline(started)).status).toBe(410);
  });

  test("is limited per source, and may be repeated later", async () => {
    const strict = runtime.configured({
      ...settings,
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_PASSKEY_CHALLENGES_PER_MINUTE: "2",
    });
    const by = await passkeyApplication(strict);
    const started = await startConfirmation(by);
    const invalid = { token: started.token, credential: { id: "a" } };
    for (const status of [400, 400, 429]) expect((await answerPage(invalid, by)).status).toBe(status);
    const limited = await answerPage(invalid, by);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await confirm(started)).status).toBe(200);
  });

  test("that the application finalizes itself closes the page", async () => {
    const started = await startConfirmation();
    const answer = sign(started);
    expect((await application.post("/transaction/finalize", answer)).status).toBe(200);
    expect(await pageOf(started)).toEqual({ state: "confirmed", returnsTo: null });
    expect((await decline(started)).status).toBe(409);
  });

  test("does not redirect to an address that is no longer allowed", async () => {
    const started = await startConfirmation();
    const stricter = runtime.configured({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://other.example/" });
    const credential = sign(started);
    const { status, body } = await answerPage(
      { token: started.token, credential },
      await passkeyApplication(stricter),
    );
    expect([status, body]).toEqual([200, { answer: "confirmed", redirect_to: null }]);
    const { tenant } = stricter;
    expect(await confirmationPage({ runtime: stricter, tenant }, started.token)).toEqual({
      state: "confirmed",
      returnsTo: null,
    });
  });

  test("with a duplicate member in its client data is rejected", async () => {
    const started = await startConfirmation();
    const credential = sign(started);
    const { response } = credential;
    const clientDataText = Buffer.from(response.clientDataJSON, "base64url").toString();
    const other = Buffer.alloc(64).toString("base64url");
    const clientData = Buffer.from(clientDataText.replace("{", `{"challenge":"${other}",`));
    const key = started.authenticator.credentials[0]?.key as CoseKey;
    const signature = signWith(
      key,
      signedBytes(Buffer.from(response.authenticatorData, "base64url"), clientData),
    );
    const duplicated = { clientDataJSON: base64url(clientData), signature: base64url(signature) };
    const { status, body } = await answerPage({
      token: started.token,
      credential: { ...credential, response: { ...response, ...duplicated } },
    });
    expect([status, body.details]).toEqual([400, "response.clientDataJSON cannot be read"]);
    expect(await confirmationCount(started)).toBe(0);
  });

  test("A68 is rejected by another tenant", async () => {
    const started = await startConfirmation();
    const other = await newTenant();
    const credential = sign(started);
    expect((await answerPage({ token: started.token, credential }, other)).status).toBe(404);
    const code = codeOf(await answerPage({ token: started.token, credential }));
    expect((await redeem(code, other)).status).toBe(400);
    expect((await redeem(code)).status).toBe(200);
  });
});

describe("a decline", () => {
  test("redirects with an error and closes page and transaction", async () => {
    const started = await startConfirmation();
    const { status, body } = await decline(started);
    expect(status).toBe(200);
    expect(Object.fromEntries(new URL(body.redirect_to).searchParams)).toEqual({
      cart: "1",
      error: "access_denied",
      transaction_id: started.transactionId,
    });
    expect((await confirm(started)).body.answer).toBe("declined");
    const answer = sign(started);
    expect((await application.post("/transaction/finalize", answer)).body).toEqual(
      errorBody(401, "failed to get session data"),
    );
    const { body: entries } = await application.get(`/audit_logs?q=${started.userId}`);
    expect(entries.find(({ error }: { error?: string }) => error === "declined by the user")).toMatchObject({
      type: "webauthn_transaction_final_failed",
      reason: "transaction_declined",
      transaction_id: started.transactionId,
    });
  });

  test("and a concurrent confirmation get the same outcome", async () => {
    for (let round = 0; round < 5; round++) {
      const started = await startConfirmation();
      const [confirmed, declined] = await Promise.all([confirm(started), decline(started)]);
      expect(confirmed.body.answer).toBe(declined.body.answer);
      expect(await pageOf(started)).toEqual({ state: confirmed.body.answer, returnsTo: "shop.example" });
      expect(await confirmationCount(started)).toBe(confirmed.body.answer === "confirmed" ? 1 : 0);
    }
  });
});

describe("a repeated answer", () => {
  test("that confirms redirects with a new code for a minute", async () => {
    const started = await startConfirmation();
    const credential = sign(started);
    const first = codeOf(await answerPage({ token: started.token, credential }));
    expect(await pageOf(started)).toEqual({ state: "confirmed", returnsTo: "shop.example" });
    const again = await answerPage({ token: started.token, credential });
    expect(again.body).toEqual({ answer: "confirmed", redirect_to: expect.any(String) });
    runtime.advanceClock(50);
    const last = codeOf(await resume(started));
    expect(new Set([first, codeOf(again), last]).size).toBe(3);
    for (const replaced of [first, codeOf(again)]) expect((await redeem(replaced)).status).toBe(400);
    // The last code is valid for a minute from its own issue.
    runtime.advanceClock(50);
    expect((await redeem(last)).body).toMatchObject({ transaction_id: started.transactionId });
    expect(await confirmationCount(started)).toBe(1);
  });

  test("that confirms concurrently counts once", async () => {
    const started = await startConfirmation();
    const credential = sign(started);
    const answers = await Promise.all([1, 2, 3].map(() => answerPage({ token: started.token, credential })));
    const options = answers.find(({ body }) => body.publicKey)?.body ?? started.options;
    const { body } = await confirm(started, {}, options);
    expect(body.answer).toBe("confirmed");
    expect((await redeem(codeOf({ body }))).status).toBe(200);
    expect(await confirmationCount(started)).toBe(1);
  });

  test("that declines redirects again, without a code", async () => {
    const started = await startConfirmation();
    const first = await decline(started);
    const page = { state: "declined", returnsTo: "shop.example" };
    expect(await pageOf(started)).toEqual(page);
    for (const more of [{ declined: true }, { resume: true }])
      expect((await answerPage({ token: started.token, ...more })).body).toEqual(first.body);
    const { body: entries } = await application.get(`/audit_logs?q=${started.userId}`);
    expect(entries.filter(({ error }: { error?: string }) => error === "declined by the user")).toHaveLength(
      1,
    );
  });

  test("that declines after a confirmation reports the confirmation", async () => {
    const started = await startConfirmation();
    await confirm(started);
    const { body } = await decline(started);
    expect(body.answer).toBe("confirmed");
    expect((await redeem(codeOf({ body }))).status).toBe(200);
  });

  test.each(["confirm", "decline"])("does not redirect a minute after the first: %s", async (kind) => {
    const started = await startConfirmation();
    await (kind === "confirm" ? confirm(started) : decline(started));
    runtime.advanceClock(61);
    expect(await pageOf(started)).toMatchObject({ returnsTo: null });
    expect((await resume(started)).body).toEqual(answeredBefore);
  });

  test("does not redirect from a page that is open, unknown, or of another tenant", async () => {
    const started = await startConfirmation();
    expect((await resume(started)).body).toEqual(errorBody(409, "confirmation was not answered yet", ""));
    expect((await answerPage({ token: "x", resume: true })).status).toBe(404);
    const other = await newTenant();
    const code = codeOf(await confirm(started));
    expect((await resume(started, other)).status).toBe(404);
    expect((await redeem(code)).status).toBe(200);
  });

  test("leaves one valid code after ten concurrent requests", async () => {
    const started = await startConfirmation();
    await confirm(started);
    const answers = await tenTimes(() => resume(started));
    const statuses: number[] = [];
    for (const answer of answers) statuses.push((await redeem(codeOf(answer))).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe("transaction/confirm", () => {
  test("accepts requests of our own page only", async () => {
    const { token } = await startConfirmation();
    const body = { token, declined: true };
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { origin: "https://shop.example" }]) {
      const answer = await application.postWithoutKey("/transaction/confirm", body, headers);
      expect(answer.status).toBe(403);
    }
    const origin = new URL(runtime.config.base_url).origin;
    expect((await application.postWithoutKey("/transaction/confirm", body, { origin })).status).toBe(200);
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
  ])("rejects the body %j", async (body, details) => {
    expect((await answerPage(body)).body).toEqual(invalidRequest(details));
  });

  test.each(["x", "x".repeat(43), "__proto__"])("rejects the unknown token %j", async (token) => {
    expect((await answerPage({ token, declined: true })).body).toEqual(
      errorBody(404, "confirmation not found", ""),
    );
  });
});

describe("transaction/redeem", () => {
  test("accepts one of ten concurrent requests with the same code", async () => {
    const code = codeOf(await confirm(await startConfirmation()));
    const answers = await tenTimes(() => redeem(code));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  });

  test("A133 keeps a code whose result is sealed with an unknown key for the server that has it", async () => {
    const started = await startConfirmation();
    const code = codeOf(await confirm(started));
    const sealed = (await rowOf(started.token))?.sealedResult;
    const store = (bytes: Buffer | null | undefined) =>
      runtime.database.write.$client.query(
        "update transaction_confirmations set sealed_result = $1 where sealed_result is not null",
        [bytes],
      );
    await store(Buffer.concat([Buffer.from([1]), Buffer.alloc(8), sealed?.subarray(9) ?? Buffer.alloc(0)]));
    for (let time = 0; time < 3; time++)
      expect((await redeem(code)).body).toEqual(errorBody(503, expect.any(String)));
    await store(sealed);
    expect((await redeem(code)).body).toMatchObject({ transaction_id: started.transactionId });
  });

  test("rejects a code after a minute", async () => {
    const code = codeOf(await confirm(await startConfirmation()));
    runtime.advanceClock(61);
    expect((await redeem(code)).body).toEqual(errorBody(400, "unable to redeem code"));
  });

  test.each([["x"], ["x".repeat(43)], [7], [null], [["x"]], ["a\0"]])("rejects the code %j", async (code) => {
    expect((await redeem(code)).status).toBe(400);
  });
});
