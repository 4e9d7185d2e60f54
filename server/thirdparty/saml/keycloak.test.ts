import { createPrivateKey } from "node:crypto";
import { expect, test } from "vitest";
import recorded from "../../testing/vectors/keycloak-26.json" with { type: "json" };
import { verifySamlAssertion } from "./assertion.ts";
import { mapAttributes } from "./attribute-mapping.ts";
import { parseMetadata } from "./identity-provider-metadata.ts";
import { validateResponse } from "./response-validation.ts";
import { readSignedAssertion } from "./signed-content.ts";

/**
 * A response of Keycloak 26, into which our metadata was imported and nothing else set. The key was made for the
 * recording alone.
 */

const decryptionKey = createPrivateKey(recorded.decryptionKey);
const { entityId, certificates, logout } = parseMetadata(recorded.metadata, { plainHttp: true });

test("a response of Keycloak 26 is decrypted, verified and understood", async () => {
  const verdict = await validateResponse(recorded.response, decryptionKey);
  if (!verdict.ok) throw new Error(verdict.reason);
  const { validated } = verdict;
  // It encrypts by the strongest algorithms of XML Encryption 1.1, and signs the response around.
  expect(validated.document).toContain("xmlenc11#mgf1sha256");
  expect(validated.assertion).toBeNull();
  const content = await readSignedAssertion(validated, certificates, decryptionKey);
  if (!content.ok) throw new Error(content.reason);
  const judged = verifySamlAssertion(validated.response, content.assertion, {
    issuer: entityId,
    audience: recorded.audience,
    recipient: recorded.consumerUrl,
    requestId: recorded.requestId,
    signedInSince: null,
    now: new Date(recorded.recordedAt),
  });
  if (!judged.ok) throw new Error(judged.reason);
  const settings = {
    domains: ["example.org"],
    skip_email_verification: false,
    satisfies_mfa: false,
    attribute_map: {},
  };
  // Without a mapper of the realm it names a persistent subject and no address.
  expect(mapAttributes(judged.statement, { entityId, settings }, 120)).toMatchObject({
    provider: `saml:${entityId}`,
    subject: expect.stringMatching(/^G-[0-9a-f-]{36}$/),
    email: null,
  });
});

test("the metadata of Keycloak 26 names where it is asked to sign out, and its responses name the session", async () => {
  expect(logout).toEqual({
    requestUrl: `${entityId}/protocol/saml`,
    responseUrl: `${entityId}/protocol/saml`,
  });
  const verdict = await validateResponse(recorded.response, decryptionKey);
  if (!verdict.ok) throw new Error(verdict.reason);
  const content = await readSignedAssertion(verdict.validated, certificates, decryptionKey);
  if (!content.ok) throw new Error(content.reason);
  const judged = verifySamlAssertion(verdict.validated.response, content.assertion, {
    issuer: entityId,
    audience: recorded.audience,
    recipient: recorded.consumerUrl,
    requestId: recorded.requestId,
    signedInSince: null,
    now: new Date(recorded.recordedAt),
  });
  if (!judged.ok) throw new Error(judged.reason);
  const { nameId, session } = judged.statement;
  expect(session).toMatchObject({
    nameId: { value: nameId.value, format: nameId.format },
    sessionIndexes: [expect.stringMatching(/^[0-9a-f-]{36}::[0-9a-f-]{36}$/)],
  });
});

test("a response of Keycloak 26 that was altered is not", async () => {
  const xml = Buffer.from(recorded.response, "base64").toString();
  const altered = xml.replace("/realms/acme</saml:Issuer>", "/realms/evil</saml:Issuer>");
  const verdict = await validateResponse(Buffer.from(altered).toString("base64"), decryptionKey);
  if (!verdict.ok) throw new Error(verdict.reason);
  expect(await readSignedAssertion(verdict.validated, certificates, decryptionKey)).toEqual({
    ok: false,
    reason: "signature",
  });
});
