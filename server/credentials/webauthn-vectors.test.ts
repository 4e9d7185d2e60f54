import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Vector, vectors } from "../testing/webauthn-vectors.ts";
import { judgeAssertion } from "./assertion.ts";
import { judgeAttestation } from "./attestation.ts";
import { assertionAnswer, readClientData, registrationAnswer } from "./webauthn-answer.ts";

const userId = randomUUID();

async function signsIn(vector: Vector, response: unknown) {
  const answer = assertionAnswer.safeParse(response).data;
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
  const judged = await judgeAssertion(answer, clientData, stored, {
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
  const answer = registrationAnswer.safeParse(response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!clientData) return false;
  const judged = await judgeAttestation(answer, clientData, {
    challenge: vector.registration.challenge,
    origins: [vector.origin],
    rpId: vector.rpId,
    requireUserPresence: true,
    requireUserVerification: false,
    formats: ["none", "packed"],
    now: new Date(),
  });
  return judged.ok;
}

/** The answer once for each byte of one of its members, with that byte changed. */
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

describe("an assertion of the W3C text", () => {
  test.each(answers)("$id fails by each altered byte of $member", async ({ vector, member }) => {
    const answer = vector.authentication.response as never;
    expect(await signsIn(vector, answer)).toBe(true);
    expect(await survivors(altered(answer, member), (changed) => signsIn(vector, changed))).toEqual([]);
  });
});

const signed = vectors.filter(({ fmt }) => fmt !== "none");
const made = signed.flatMap((vector) =>
  ["attestationObject", "clientDataJSON"].map((member) => ({ vector, member, id: vector.id })),
);

describe("an attestation of the W3C text", () => {
  test.each(made)("$id fails by each altered byte of $member", async ({ vector, member }) => {
    const answer = vector.registration.response as never;
    expect(await registers(vector, answer)).toBe(true);
    const [from, to] = member === "attestationObject" ? certificateIn(answer) : [0, 0];
    const found = await survivors(altered(answer, member), (changed) => registers(vector, changed));
    // As no roots are known, a certificate is what whoever made it says, but for the key that has to fit.
    expect(found.filter((at) => at < from || at >= to)).toEqual([]);
    expect(found.length).toBeLessThan(to - from + 1);
  });
});

/** Where the certificate of a packed statement lies in its attestation object: after `x5c`, a list of one string. */
function certificateIn({
  response,
}: {
  response: { attestationObject: string };
}): [from: number, to: number] {
  const bytes = Buffer.from(response.attestationObject, "base64url");
  const header = bytes.indexOf(Buffer.from("x5c\x81\x59", "latin1"));
  if (header < 0) return [0, 0];
  return [header + 7, header + 7 + bytes.readUInt16BE(header + 5)];
}
