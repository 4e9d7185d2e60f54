import fc from "fast-check";
import { expect, test } from "vitest";
import { rejectUaf } from "../../failures/uaf.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import { exportUafKey } from "../../testing/uaf-authenticator/keys.ts";
import { tags } from "../../testing/uaf-authenticator/tlv.ts";
import { authenticatorMetadata } from "./metadata.ts";
import { createAuthenticationRequest, createRegistrationRequest } from "./requests.ts";
import { verifyUafAuthentication } from "./verify-authentication.ts";
import { verifyUafRegistrationResponse } from "./verify-registration.ts";

/** Every response gets a verdict: nothing is thrown, and no changed response is accepted. */

const facetId = "https://login.example";
const asked = { appId: "https://login.example/facets", challenge: Buffer.alloc(32, 7).toString("base64url") };
const accepted = [authenticatorMetadata({ aaid: "006F#0001" })];
const authenticator = createUafAuthenticator();
const registration = authenticator.register(
  createRegistrationRequest({ ...asked, username: "ada", accepted }),
  {
    facetId,
  },
);
const [held] = authenticator.keys;
if (!held) throw new Error("no key");
const key = {
  aaid: "006F#0001",
  keyId: held.id.toString("base64url"),
  publicKey: exportUafKey(held.privateKey, 0x0101),
  keyFormat: 0x0101,
  algorithm: 0x0002,
  signCounter: 0,
};
const authentication = authenticator.authenticate(
  createAuthenticationRequest({ ...asked, transaction: "Pay?", keys: [key] }),
  { facetId },
);

const common = { ...asked, facets: [facetId], accepted };
const verifiers = {
  registration: (answer: string, strict: boolean) =>
    verifyUafRegistrationResponse(answer, { ...common, now: new Date(), strict }),
  authentication: (answer: string, strict: boolean) =>
    verifyUafAuthentication(answer, { ...common, transaction: "Pay?", keys: [key], strict }),
};
const answers = { registration, authentication };
const which = fc.constantFrom<keyof typeof verifiers>("registration", "authentication");

interface Message {
  header: object;
  fcParams: string;
  assertions: [{ assertionScheme: string; assertion: string }];
}
const messageOf = (kind: keyof typeof answers) => (JSON.parse(answers[kind]) as [Message])[0];

function expectRejected(kind: keyof typeof verifiers, answer: string, strict: boolean) {
  const verdict = verifiers[kind](answer, strict);
  if (verdict.ok) throw new Error(`taken: ${answer}`);
  expect(verdict).toEqual(rejectUaf(verdict.reason));
}

test("accepts both unchanged", () => {
  for (const kind of ["registration", "authentication"] as const)
    expect(verifiers[kind](answers[kind], true)).toMatchObject({ ok: true });
});

test("rejects any text", () => {
  fc.assert(
    fc.property(
      which,
      fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.json()),
      fc.boolean(),
      expectRejected,
    ),
    { numRuns: 1000 },
  );
});

test("rejects any other value of a member", () => {
  const paths = [
    "header",
    "fcParams",
    "assertions",
    "header.upv",
    "header.op",
    "header.appID",
    "header.upv.major",
    "header.upv.minor",
    "header.exts",
    "assertions.0",
    "assertions.0.assertion",
    "assertions.0.assertionScheme",
    "assertions.0.exts",
  ];
  const value = fc
    .jsonValue({ maxDepth: 3 })
    .filter((other) => other !== null && !Array.isArray(other) && other !== 1 && other !== 0);
  fc.assert(
    fc.property(which, fc.constantFrom(...paths), value, fc.boolean(), (kind, path, value, strict) => {
      const message = messageOf(kind);
      const steps = path.split(".");
      const last = steps.pop() ?? "";
      const holder = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], message);
      Object.defineProperty(holder, last, { value, enumerable: true });
      expectRejected(kind, JSON.stringify([message]), strict);
    }),
    { numRuns: 1000 },
  );
});

const changed = (kind: keyof typeof answers, change: (bytes: Buffer) => Buffer): string => {
  const message = messageOf(kind);
  const [sent] = message.assertions;
  sent.assertion = change(Buffer.from(sent.assertion, "base64url")).toString("base64url");
  return JSON.stringify([message]);
};

test("A75 rejects any bytes as an assertion", () => {
  fc.assert(
    fc.property(which, fc.uint8Array({ maxLength: 200 }), fc.boolean(), (kind, bytes, strict) =>
      expectRejected(
        kind,
        changed(kind, () => Buffer.from(bytes)),
        strict,
      ),
    ),
    { numRuns: 1000 },
  );
});

test("A75 rejects an assertion with changed, added or removed bytes", () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.integer({ min: 0, max: 8 }),
    insert: fc.uint8Array({ maxLength: 8 }),
  });
  fc.assert(
    fc.property(which, fc.array(edit, { minLength: 1, maxLength: 3 }), (kind, edits) => {
      let altered = true;
      const answer = changed(kind, (original) => {
        const bytes = edits.reduce((bytes, { at, remove, insert }) => {
          const start = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
        }, original);
        altered = !bytes.equals(original);
        return bytes;
      });
      if (altered) expectRejected(kind, answer, true);
    }),
    { numRuns: 2000 },
  );
});

test("A75 rejects items in any order, number and depth", () => {
  const tag = fc.constantFrom(...Object.values(tags), 0x0e55, 0x1e55, 0x2e55);
  const leaf = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  const { tree } = fc.letrec<{ tree: Buffer }>((tie) => ({
    tree: fc
      .array(fc.tuple(tag, fc.oneof({ maxDepth: 6, withCrossShrink: true }, leaf, tie("tree"))), {
        maxLength: 5,
      })
      .map((items) =>
        Buffer.concat(
          items.map(([tag, value]) => {
            const head = Buffer.alloc(4);
            head.writeUInt16LE(tag, 0);
            head.writeUInt16LE(Math.min(value.length, 0xffff), 2);
            return Buffer.concat([head, value]);
          }),
        ),
      ),
  }));
  fc.assert(
    fc.property(which, tree, (kind, bytes) =>
      expectRejected(
        kind,
        changed(kind, () => bytes),
        false,
      ),
    ),
    { numRuns: 1000 },
  );
});

test("rejects any other final challenge", () => {
  const params = fc.record(
    {
      appID: fc.oneof(fc.constant<unknown>(asked.appId), fc.jsonValue()),
      challenge: fc.oneof(fc.constant<unknown>(asked.challenge), fc.jsonValue()),
      facetID: fc.oneof(fc.constant<unknown>(facetId), fc.jsonValue()),
      channelBinding: fc.oneof(fc.constant<unknown>({}), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    params.map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  );
  fc.assert(
    fc.property(which, text, fc.boolean(), (kind, text, strict) => {
      const message = messageOf(kind);
      const fcParams = Buffer.from(text).toString("base64url");
      if (fcParams === message.fcParams) return;
      expectRejected(kind, JSON.stringify([{ ...message, fcParams }]), strict);
    }),
    { numRuns: 1000 },
  );
});
