import { randomBytes, randomUUID } from "node:crypto";
import canonicalize from "canonicalize";
import {
  type Assertion,
  challengeOf,
  type Device,
  isValidAssertion,
  must,
  secret,
  sha256,
  signJwt,
  uafSigner,
} from "./proofs.ts";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";

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
  const [opened] = await bare.query<{ allowed: { id: string }[] | null }>(others.transactionInit, {
    tenant: bare.tenantId,
    keyHash: sha256(key),
    user: asked.user_id,
    id: randomUUID(),
    identifier: asked.transaction_id,
    data,
    challenge,
    request: randomUUID(),
  });
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
  const { tenantId: tenant, origin } = bare;
  const challenge = challengeOf(assertion);
  const values = { tenant, keyHash: sha256(key), challenge, credential: assertion.id };
  const [found] = await bare.query<TransactionRow>(others.transactionTake, values);
  must(
    found !== undefined && isValidAssertion(assertion, { challenge, origin, publicKey: found.public_key }),
  );
  const now = new Date();
  const receipt = signJwt(
    bare,
    {
      iss: origin,
      iat: Math.floor(now.getTime() / 1000),
      tenant_id: tenant,
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
  const { id, credential } = found;
  const written = await bare.query(others.transactionEnd, { tenant, id, credential, request: randomUUID() });
  must(written.length === 1);
  return { token, receipt };
}

export async function askAuthenticator(
  bare: Bare,
  key: string,
  { userId, username }: { userId: string; username: string },
): Promise<object> {
  const asked = { tenant: bare.tenantId, keyHash: sha256(key), user: userId };
  const devices = await bare.query<{ aaid: string; key_id: string }>(others.devices, asked);
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
  const opened = { id, username, challenge, message: request, deviceToken: sha256(token) };
  await bare.query(others.uafRequest, { ...asked, ...opened });
  return { id, operation: "AUTH", userId, username, status: "PENDING", request, deviceID: "", links: [] };
}

export async function answerAuthenticator(
  bare: Bare,
  key: string,
  id: string,
  { uafResponse }: { uafResponse: string },
): Promise<object> {
  const asked = { tenant: bare.tenantId, keyHash: sha256(key), id };
  const taken = await bare.query<Device & { challenge: string }>(others.uafTake, asked);
  const device = uafSigner(uafResponse, taken[0]?.challenge ?? "", taken);
  must(device !== null);
  const written = await bare.query(others.uafEnd, { ...asked, device: device.id, request: randomUUID() });
  must(written.length === 1);
  return { id, operation: "AUTH", status: "OK", request: "[]", deviceID: device.id };
}
