import { createHash, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { type PasskeyService, startPasskeyService } from "../../testing/passkey-service.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

// Calls every operation on transactions, and the audit log, over the network, with a client that shares no code with
// the server: it serializes, hashes and verifies by itself.

const service = await openForTests(
  startPasskeyService({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.example/paid" }),
);
const base = service.tenantBase;
const origin = service.server.url;

const call: PasskeyService["call"] = (...parameters) => service.call(...parameters);

const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

/** Serializes by RFC 8785 data that has only ASCII names and integers. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

const passkey = softwareAuthenticator();
const order = {
  to: "Grace Hopper",
  amount: "49.90",
  items: [{ name: "Überraschung", count: 2 }],
  gift: true,
};
const requestBody = (id: string, more: object = {}) => ({
  user_id: "ada",
  transaction_id: id,
  transaction_data: order,
  ...more,
});

/** Verifies a receipt by WebAuthn Level 3, 7.2, with the registered public key. */
async function expectValidReceipt(receipt: string, id: string, authenticator: Authenticator) {
  const { header, claims } = await service.verifyJws(receipt);
  expect(header.typ).toBe("transaction-receipt+jwt");
  expect(claims).toMatchObject({ transaction_id: id, user_id: "ada", data: canonical(order), iss: base });
  const [clientData, authenticatorData, signature] = ["clientDataJSON", "authenticatorData", "signature"].map(
    (name) => Buffer.from(claims.response[name], "base64url"),
  ) as [Buffer, Buffer, Buffer];
  const parsedClientData = JSON.parse(clientData.toString());
  expect(parsedClientData).toMatchObject({ type: "webauthn.get", origin });
  expect(Buffer.from(parsedClientData.challenge, "base64url").subarray(32)).toEqual(
    sha256(id, canonical(order)),
  );
  expect(authenticatorData.subarray(0, 32)).toEqual(sha256("localhost"));
  const [credential] = authenticator.credentials;
  if (!credential) throw new Error("no passkey");
  expect(claims.credential.public_key).toBe(credential.key.cose.toString("base64url"));
  const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
  expect(verify("sha256", signed, credential.key.publicKey, signature)).toBe(true);
}

describe("an application", () => {
  test("has a user confirm a transaction, and receives the receipt", async () => {
    const user = { user_id: "ada", username: "ada@example.com" };
    const registration = passkey.create((await call("POST", "/registration/initialize", user)).body, {
      origin,
    });
    expect((await call("POST", "/registration/finalize", registration)).status).toBe(200);

    const initialized = await call("POST", "/transaction/initialize", requestBody("order-1"));
    expect(initialized.status).toBe(200);
    const challenge = Buffer.from(initialized.body.publicKey.challenge, "base64url");
    expect(challenge).toHaveLength(64);
    expect(challenge.subarray(32)).toEqual(sha256("order-1", canonical(order)));

    const answer = passkey.get(initialized.body, { origin });
    const finalized = await call("POST", "/transaction/finalize", answer);
    expect(finalized.status).toBe(200);
    const { claims } = await service.verifyJws(finalized.body.token);
    expect(claims).toMatchObject({ sub: "ada", aud: ["localhost"], cred: registration.id, trans: "order-1" });
    await expectValidReceipt(finalized.body.receipt, "order-1", passkey);
    expect((await call("POST", "/transaction/finalize", answer)).status).toBe(401);
  });

  test("cannot use an id twice, nor one of 129 characters", async () => {
    expect((await call("POST", "/transaction/initialize", requestBody("order-1"))).body).toEqual({
      title: "transaction already exists",
      details: "",
      status: 409,
    });
    expect((await call("POST", "/transaction/initialize", requestBody("x".repeat(129)))).status).toBe(400);
  });

  test("confirms on the hosted page, and redeems the code", async () => {
    const confirmation = { redirect_to: "https://shop.example/paid" };
    const initialized = await call(
      "POST",
      "/transaction/initialize",
      requestBody("order-2", { confirmation }),
    );
    const page = new URL(initialized.body.confirmation_url);
    expect(page.origin + page.pathname).toBe(`${origin}/confirm`);

    const shown = await fetch(page);
    expect([shown.status, shown.headers.get("cache-control")]).toEqual([
      200,
      expect.stringContaining("no-store"),
    ]);
    expect(await shown.text()).toContain("Grace Hopper");

    const answer = {
      token: page.searchParams.get("token"),
      credential: passkey.get(initialized.body, { origin }),
    };
    const ownPage = { key: null, headers: { Origin: origin } };
    const confirmed = await call("POST", "/transaction/confirm", answer, ownPage);
    expect(confirmed.status).toBe(200);
    const redirect = new URL(confirmed.body.redirect_to);
    expect([redirect.host, redirect.searchParams.get("transaction_id")]).toEqual(["shop.example", "order-2"]);

    const code = redirect.searchParams.get("code");
    const redeemed = await call("POST", "/transaction/redeem", { code });
    expect(redeemed).toMatchObject({ status: 200, body: { transaction_id: "order-2" } });
    expect((await service.verifyJws(redeemed.body.token)).claims.trans).toBe("order-2");
    await expectValidReceipt(redeemed.body.receipt, "order-2", passkey);
    expect((await call("POST", "/transaction/redeem", { code })).status).toBe(400);
    expect((await call("POST", "/transaction/confirm", answer, ownPage)).status).toBe(409);
  });

  test("is informed of a decline", async () => {
    const confirmation = { redirect_to: "https://shop.example/paid" };
    const initialized = await call(
      "POST",
      "/transaction/initialize",
      requestBody("order-3", { confirmation }),
    );
    const token = new URL(initialized.body.confirmation_url).searchParams.get("token");
    const declined = await call(
      "POST",
      "/transaction/confirm",
      { token, declined: true },
      { key: null, headers: { Origin: origin } },
    );
    expect(declined.body).toEqual({
      answer: "declined",
      redirect_to: "https://shop.example/paid?error=access_denied&transaction_id=order-3",
    });
  });

  test("lists transactions with their outcome", async () => {
    const { status, body } = await call("GET", "/transaction/ada");
    expect(status).toBe(200);
    expect(body).toEqual(
      ["order-1", "order-2", "order-3"].map((identifier) => ({
        id: expect.any(String),
        identifier,
        data: canonical(order),
        created_at: expect.any(String),
        updated_at: expect.any(String),
        ...(identifier === "order-3" ? {} : { confirmed_at: expect.any(String) }),
      })),
    );
  });

  test("lists the audit log in pages", async () => {
    const filter =
      "type=webauthn_transaction_final_succeeded,webauthn_transaction_final_failed&actor_user_id=ada";
    const { status, body, headers } = await call("GET", `/audit_logs?${filter}&per_page=2`);
    expect(status).toBe(200);
    expect([headers.get("x-total-count"), headers.get("link")]).toEqual([
      "3",
      expect.stringContaining('rel="next"'),
    ]);
    expect(body).toMatchObject([
      {
        type: "webauthn_transaction_final_failed",
        transaction_id: "order-3",
        error: "declined by the user",
        reason: "transaction_declined",
      },
      {
        type: "webauthn_transaction_final_succeeded",
        transaction_id: "order-2",
        tenant_id: service.tenantId,
      },
    ]);
    const [next] = /(?<=<)[^>]+(?=>; rel="next")/.exec(headers.get("link") ?? "") ?? [];
    const rest = await call("GET", String(next).slice(base.length));
    expect(rest.body).toMatchObject([{ transaction_id: "order-1" }]);
    expect((await call("GET", "/audit_logs", undefined, { key: null })).status).toBe(401);
  });
});
