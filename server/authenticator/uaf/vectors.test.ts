import { describe, expect, test } from "vitest";
import { authenticatorMetadata } from "./metadata.ts";
import { createDeregistrationRequest } from "./requests.ts";
import device from "./vectors/dab8-8011-authentication.json" with { type: "json" };
import example from "./vectors/fido-spec-example.json" with { type: "json" };
import { type ExpectedAuthentication, verifyUafAuthentication } from "./verify-authentication.ts";
import { type ExpectedRegistration, verifyUafRegistrationResponse } from "./verify-registration.ts";

/** Published messages: the example of FIDO's specification, and a response of a commercial device. */

const { registrationRequest, registrationResponse, authenticationRequest, authenticationResponse } =
  example.messages;

const model = authenticatorMetadata({
  aaid: "ABCD#ABCD",
  algorithms: [0x0001],
  key_formats: [0x0100],
  attestation: "full",
  roots: example.vectors[0]?.attestationCertificates?.map(pem) ?? [],
  version: 0x0100,
});

function pem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}

const common = {
  appId: registrationRequest.header.appID,
  facets: ["com.noknok.android.sampleapp"],
  accepted: [model],
  strict: true,
};

const expectedRegistration: ExpectedRegistration = {
  ...common,
  challenge: registrationRequest.challenge,
  serverData: registrationRequest.header.serverData,
  now: new Date("2015-01-01T00:00:00Z"),
};

const expectedAuthentication: ExpectedAuthentication = {
  ...common,
  challenge: authenticationRequest.challenge,
  serverData: authenticationRequest.header.serverData,
  transaction: null,
  keys: [
    {
      aaid: "ABCD#ABCD",
      keyId: "ZMCPn92yHv1Ip-iCiBb6i4ADq6ZOv569KFQCvYSJfNg",
      publicKey: Buffer.from(example.vectors[0]?.expect.publicKey ?? "", "base64url"),
      keyFormat: 0x0100,
      algorithm: 0x0001,
      signCounter: 1,
    },
  ],
};

interface Message {
  fcParams: string;
  assertions: { assertion: string; assertionScheme: string }[];
}

const judgedRegistration = (message: Message) =>
  verifyUafRegistrationResponse(JSON.stringify([message]), expectedRegistration);
const judgedAuthentication = (message: Message, keys = expectedAuthentication.keys) =>
  verifyUafAuthentication(JSON.stringify([message]), { ...expectedAuthentication, keys });

/** Changes one byte of the message's assertion. */
function* alteredAssertions(message: Message): Generator<[at: number, Message]> {
  const [first] = message.assertions;
  const bytes = Buffer.from(first?.assertion ?? "", "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8));
    yield [
      at,
      { ...message, assertions: [{ assertionScheme: "UAFV1TLV", assertion: altered.toString("base64url") }] },
    ];
  }
}

/** Changes one character of the message's final challenge parameters. */
function* alteredChallenges(message: Message): Generator<[at: number, Message]> {
  const { fcParams } = message;
  for (let at = 0; at < fcParams.length; at++) {
    const other = fcParams[at] === "A" ? "B" : "A";
    yield [at, { ...message, fcParams: fcParams.slice(0, at) + other + fcParams.slice(at + 1) }];
  }
}

describe("the example of FIDO's specification", () => {
  test("registers", () => {
    expect(judgedRegistration(registrationResponse)).toEqual({
      ok: true,
      registrations: [
        {
          aaid: "ABCD#ABCD",
          keyId: "ZMCPn92yHv1Ip-iCiBb6i4ADq6ZOv569KFQCvYSJfNg",
          publicKey: expectedAuthentication.keys[0]?.publicKey,
          keyFormat: 0x0100,
          algorithm: 0x0001,
          signCounter: 1,
          regCounter: 1,
          authenticatorVersion: 0x0100,
          attestation: "full",
        },
      ],
    });
  });

  test("authenticates", () => {
    expect(judgedAuthentication(authenticationResponse)).toEqual({
      ok: true,
      assertions: [
        {
          aaid: "ABCD#ABCD",
          keyId: "ZMCPn92yHv1Ip-iCiBb6i4ADq6ZOv569KFQCvYSJfNg",
          signCounter: 2,
          authenticatorVersion: 0x0100,
        },
      ],
    });
  });

  test("deregisters with a message like ours", () => {
    const { header, authenticators } = example.messages.deregistrationRequest;
    const ours: unknown = JSON.parse(createDeregistrationRequest({ appId: header.appID, authenticators }));
    expect(ours).toContainEqual({ header, authenticators });
  });

  test("does not register outside the validity period of its certificate", () => {
    for (const now of ["2017-05-25T00:00:00Z", "2014-08-28T00:00:00Z"]) {
      const answer = verifyUafRegistrationResponse(JSON.stringify([registrationResponse]), {
        ...expectedRegistration,
        now: new Date(now),
      });
      expect(answer).toMatchObject({ ok: false, reason: "attestation_not_verified", code: 1496 });
    }
  });

  test("A72 does not authenticate with the final challenge of the registration", () => {
    const answer = verifyUafAuthentication(
      JSON.stringify([{ ...authenticationResponse, fcParams: registrationResponse.fcParams }]),
      { ...expectedAuthentication, challenge: expectedRegistration.challenge },
    );
    expect(answer).toMatchObject({ ok: false, reason: "final_challenge_hash_mismatch", code: 1498 });
  });

  test("does not register with one bit of its assertion altered", () => {
    for (const [at, message] of alteredAssertions(registrationResponse)) {
      expect(judgedRegistration(message), `byte ${at}`).toMatchObject({ ok: false });
    }
  });

  test("does not authenticate with one bit of its assertion altered", () => {
    for (const [at, message] of alteredAssertions(authenticationResponse)) {
      expect(judgedAuthentication(message), `byte ${at}`).toMatchObject({ ok: false });
    }
  });

  test("does not register or authenticate with one character of its final challenge altered", () => {
    for (const [at, message] of alteredChallenges(registrationResponse)) {
      expect(judgedRegistration(message), `character ${at}`).toMatchObject({ ok: false });
    }
    for (const [at, message] of alteredChallenges(authenticationResponse)) {
      expect(judgedAuthentication(message), `character ${at}`).toMatchObject({ ok: false });
    }
  });

  test("does not authenticate with one bit of the registered key altered", () => {
    const [key] = expectedAuthentication.keys;
    if (!key) throw new Error("no key");
    for (let at = 0; at < key.publicKey.length; at++) {
      const publicKey = Buffer.from(key.publicKey);
      publicKey[at] = (publicKey[at] ?? 0) ^ (1 << (at % 8));
      const answer = judgedAuthentication(authenticationResponse, [{ ...key, publicKey }]);
      expect(answer, `byte ${at}`).toMatchObject({ ok: false });
    }
  });
});

describe("the authentication of a commercial device", () => {
  const expected: ExpectedAuthentication = {
    appId: device.response.header.appID,
    facets: [device.response.header.appID],
    challenge: "JDJhJDEwJE45TmZaZzlFYVhwcHpHbWNqekNwYWU",
    transaction: null,
    accepted: [authenticatorMetadata({ aaid: "DAB8#8011" })],
    strict: true,
    keys: [
      {
        aaid: "DAB8#8011",
        keyId: "KEvxrLpMDKledX_3zN5L7FAPExPYD0NzO59SkFGrkhQ",
        publicKey: Buffer.from(device.publicKey, "base64url"),
        keyFormat: 0x0101,
        algorithm: 0x0002,
        signCounter: 0,
      },
    ],
  };

  test("is accepted", () => {
    expect(verifyUafAuthentication(JSON.stringify([device.response]), expected)).toMatchObject({ ok: true });
  });

  test("is rejected without the padding that was signed", () => {
    const fcParams = device.response.fcParams.replace(/=+$/, "");
    expect(
      verifyUafAuthentication(JSON.stringify([{ ...device.response, fcParams }]), expected),
    ).toMatchObject({
      ok: false,
      reason: "final_challenge_hash_mismatch",
    });
  });

  test("is rejected with one bit altered", () => {
    for (const [at, message] of alteredAssertions(device.response)) {
      const answer = verifyUafAuthentication(JSON.stringify([message]), expected);
      expect(answer, `byte ${at}`).toMatchObject({ ok: false });
    }
  });
});
