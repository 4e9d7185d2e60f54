import { randomUUID } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { passkeySuite } from "../../testing/passkey-suite.ts";

/** Receipts whose issuer has replaced its key long ago. */

const { runtime, application } = await passkeySuite();
const { signingKeys } = schema;

async function confirmedReceipt(by: PasskeyApplication): Promise<string> {
  const { userId, authenticator } = await by.registerUser();
  const about = { user_id: userId, transaction_id: randomUUID(), transaction_data: { amount: 12 } };
  const answer = await by.answer(authenticator, "/transaction", about);
  const { body } = await by.post("/transaction/finalize", answer);
  return body.receipt;
}

/** Retires the signing key a year ago, and starts a process, which makes a new one. */
async function restartAYearAfterRotation(): Promise<PasskeyApplication> {
  const own = and(eq(signingKeys.tenantId, runtime.tenant.id), eq(signingKeys.purpose, "passkeys"));
  await runtime.database.write
    .update(signingKeys)
    .set({ retiredAt: sql`now() - interval '1 year'`, sealedPrivateJwk: Buffer.alloc(0) })
    .where(own);
  const restarted = runtime.configured({});
  await restarted.signingKeys.of(restarted.tenant, "passkeys").ready;
  return passkeyApplication(restarted);
}

test("a receipt is verified by the archive years after its key was replaced", async () => {
  const receipt = await confirmedReceipt(application);
  const { kid } = decodeProtectedHeader(receipt);
  const later = await restartAYearAfterRotation();
  const keysAt = async (path: string) => (await later.callWithoutKey("GET", path)).body;

  const current = await keysAt("/.well-known/jwks.json");
  expect(current.keys.map((key: { kid: string }) => key.kid)).not.toContain(kid);
  expect(verifyReceipt(receipt, { jwks: current })).toMatchObject({ ok: false, code: "key_unknown" });

  const archive = await keysAt("/.well-known/receipt-keys.json");
  expect(archive.keys.map((key: { kid: string }) => key.kid)).toEqual([current.keys[0].kid, kid]);
  for (const key of archive.keys)
    expect(Object.keys(key).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  expect(verifyReceipt(receipt, { jwks: archive })).toMatchObject({
    ok: true,
    receipt: { issuerKeyId: kid },
  });
  expect(verifyReceipt(await confirmedReceipt(later), { jwks: archive })).toMatchObject({ ok: true });
});
