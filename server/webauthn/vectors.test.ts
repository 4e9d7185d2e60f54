import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Vector, vectorRoot, vectors } from "../testing/webauthn-vectors.ts";
import { verifyWebAuthnAssertion } from "./assertion.ts";
import { verifyWebAuthnAttestation } from "./attestation.ts";
import { authenticationResponse, readClientData, registrationResponse } from "./responses.ts";

const userId = randomUUID();

async function signsIn(vector: Vector, response: unknown) {
  const answer = authenticationResponse.safeParse(response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!clientData) return false;
  const stored = {
    id: vector.credential.id,
    userId,
    publicKey: Buffer.from(vector.credential.publicKeyCose, "base64url"),
    signCount: 0,
    backupEligible: vector.credential.backupEligible,
    mfaOnly: false,
    transports: [],
  };
  const judged = await verifyWebAuthnAssertion(answer, clientData, stored, {
    challenge: vector.authentication.challenge,
    origins: [vector.origin],
    rpId: vector.rpId,
    requireUserVerification: false,
    allowed: null,
    userId,
    secondFactor: false,
    signCount: "refuse",
  });
  return judged.ok;
}

async function registers(vector: Vector, response: unknown) {
  const answer = registrationResponse.safeParse(response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!clientData) return false;
  const expected = {
    challenge: vector.registration.challenge,
    origins: [vector.origin],
    rpId: vector.rpId,
    requireUserPresence: true,
    requireUserVerification: false,
    formats: ["none", "packed"] as const,
    now: new Date(),
  };
  const judged = await verifyWebAuthnAttestation(answer, clientData, expected, { packed: [vectorRoot] });
  return judged.ok;
}

/** Copies of a response, each with one byte of the member changed. */
function* altered(answer: { response: unknown }, member: string): Generator<[at: number, unknown]> {
  const response = answer.response as Record<string, string>;
  const bytes = Buffer.from(response[member] ?? "", "base64url");
  expect(bytes.length).toBeGreaterThan(0);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    yield [at, { ...answer, response: { ...response, [member]: changed.toString("base64url") } }];
  }
}

async function survivors(changes: Iterable<[number, unknown]>, holds: (answer: unknown) => Promise<boolean>) {
  const found: number[] = [];
  for (const [at, answer] of changes) if (await holds(answer)) found.push(at);
  return found;
}

const answers = vectors.flatMap((vector) =>
  ["authenticatorData", "clientDataJSON", "signature"].map((member) => ({ vector, member, id: vector.id })),
);

describe("an assertion of the test vectors", () => {
  test.each(answers)("$id is rejected if any byte of $member is changed", async ({ vector, member }) => {
    const answer = vector.authentication.response as never;
    expect(await signsIn(vector, answer)).toBe(true);
    expect(await survivors(altered(answer, member), (changed) => signsIn(vector, changed))).toEqual([]);
  });
});

const signed = vectors.filter(({ fmt }) => fmt !== "none");
const made = signed.flatMap((vector) =>
  ["attestationObject", "clientDataJSON"].map((member) => ({ vector, member, id: vector.id })),
);

describe("an attestation of the test vectors", () => {
  test.each(made)("$id is rejected if any byte of $member is changed", async ({ vector, member }) => {
    const answer = vector.registration.response as never;
    expect(await registers(vector, answer)).toBe(true);
    expect(await survivors(altered(answer, member), (changed) => registers(vector, changed))).toEqual([]);
  });
});
