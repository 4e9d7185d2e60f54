import { randomBytes, randomUUID } from "node:crypto";
import canonicalize from "canonicalize";
import {
  type Assertion,
  challengeOf,
  type Device,
  isValidAssertion,
  sha256,
  signJwt,
  uafSigner,
} from "./proofs.ts";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";
import { must, secret } from "./steps.ts";

/** What applications call: transactions of the passkey server, and requests to authenticators. */

interface Asked {
  user_id: string;
  transaction_id: string;
  transaction_data: object;
}

export async function openTransaction(bare: Bare, key: string, asked: Asked): Promise<object> {
  const data = canonicalize(asked.transaction_data) ?? "";
  const committed = sha256(asked.transaction_id + data);
  const challenge = Buffer.concat([randomBytes(32), committed]).toString("base64url");
  const values = [
    sha256(key),
    asked.user_id,
    randomUUID(),
    asked.transaction_id,
    data,
    challenge,
    randomUUID(),
  ];
  const [opened] = await bare.query<{ allowed: { id: string }[] | null }>(
    "transaction_init",
    others.transactionInit,
    [bare.tenantId, ...values],
  );
  must(Boolean(opened?.allowed));
  const allowCredentials = opened?.allowed?.map((one) => ({ ...one, type: "public-key" }));
  return {
    publicKey: { challenge, rpId: new URL(bare.origin).hostname, allowCredentials, timeout: 300_000 },
  };
}

interface TransactionRow {
  id: string;
  identifier: string;
  data: string;
  created_at: Date;
  credential: string;
  public_key: Buffer;
  aaguid: string;
  attestation_type: string;
  credential_created_at: Date;
  user_id: string;
}

export async function confirmTransaction(bare: Bare, key: string, assertion: Assertion): Promise<object> {
  const { tenantId, origin } = bare;
  const challenge = challengeOf(assertion);
  const values = [tenantId, sha256(key), challenge, assertion.id];
  const [found] = await bare.query<TransactionRow>("transaction_take", others.transactionTake, values);
  must(
    found !== undefined && isValidAssertion(assertion, { challenge, origin, publicKey: found.public_key }),
  );
  const now = new Date();
  const receipt = signJwt(
    bare,
    {
      iss: origin,
      iat: Math.floor(now.getTime() / 1000),
      tenant_id: tenantId,
      transaction_id: found.identifier,
      user_id: found.user_id,
      data: found.data,
      created_at: found.created_at,
      confirmed_at: now,
      relying_party: { id: new URL(origin).hostname, origins: [origin] },
      credential: {
        id: found.credential,
        public_key: found.public_key.toString("base64url"),
        aaguid: found.aaguid,
        attestation_type: found.attestation_type,
        created_at: found.credential_created_at,
      },
      response: assertion.response,
    },
    "transaction-receipt+jwt",
  );
  const token = signJwt(bare, { sub: found.user_id, cred: found.credential, tid: found.identifier });
  const ended = [tenantId, found.id, found.credential, randomUUID()];
  const written = await bare.query("transaction_end", others.transactionEnd, ended);
  must(written.length === 1);
  return { token, receipt };
}

export async function askAuthenticator(
  bare: Bare,
  key: string,
  { userId, username }: { userId: string; username: string },
): Promise<object> {
  const devices = await bare.query<{ aaid: string; key_id: string }>("devices", others.devices, [
    bare.tenantId,
    sha256(key),
    userId,
  ]);
  must(devices.length > 0);
  const [id, challenge, token] = [randomBytes(22).toString("hex"), secret(), secret()];
  const accepted = devices.map(({ aaid, key_id }) => [
    { aaid: [aaid], keyIDs: [key_id.replaceAll("=", "")] },
  ]);
  const messages = [1, 0].map((minor) => ({
    header: { upv: { major: 1, minor }, op: "Auth", appID: `${bare.origin}/authenticator/facets` },
    challenge,
    policy: { accepted },
  }));
  const request = JSON.stringify(messages);
  const values = [bare.tenantId, id, userId, username, challenge, request, sha256(token)];
  await bare.query("uaf_request", others.uafRequest, values);
  return { id, operation: "AUTH", userId, username, status: "PENDING", request, deviceID: "", links: [] };
}

export async function answerAuthenticator(
  bare: Bare,
  key: string,
  id: string,
  { uafResponse }: { uafResponse: string },
): Promise<object> {
  const taken = await bare.query<Device & { challenge: string }>("uaf_take", others.uafTake, [
    bare.tenantId,
    sha256(key),
    id,
  ]);
  const device = uafSigner(uafResponse, taken[0]?.challenge ?? "", taken);
  must(device !== null);
  const written = await bare.query("uaf_end", others.uafEnd, [bare.tenantId, id, device.id, randomUUID()]);
  must(written.length === 1);
  return { id, operation: "AUTH", status: "OK", request: "[]", deviceID: device.id };
}
