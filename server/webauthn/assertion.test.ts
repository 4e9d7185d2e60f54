import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { coseAlgorithms } from "../testing/cose-key.ts";
import {
  coseKeyOf,
  otherEcdsaEncodings,
  shortRsaSignature,
  signatureAlgorithms,
} from "../testing/signature-algorithms.ts";
import { type GetCall, softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import { sha256 } from "../testing/webauthn-messages.ts";
import { frameVectors, vectors } from "../testing/webauthn-vectors.ts";
import { type ExpectedAssertion, verifyWebAuthnAssertion } from "./assertion.ts";
import type { StoredCredential } from "./credential-record.ts";
import { noFraming } from "./framing.ts";
import { authenticationResponse, readClientData } from "./responses.ts";
import { legacyUserHandle } from "./user-handle.ts";

const origin = "https://login.example";
const userId = randomUUID();
const expected: ExpectedAssertion = {
  challenge: Buffer.from("a challenge of thirty-two bytes.").toString("base64url"),
  origins: [origin],
  rpId: "login.example",
  requireUserVerification: false,
  allowed: null,
  userId: null,
  secondFactor: false,
  signCount: "refuse",
};
const request = { challenge: expected.challenge, rpId: expected.rpId, userVerification: "preferred" };

type Settings = Parameters<typeof softwareAuthenticator>[0];

/** An authenticator with one passkey, and how the server keeps it. */
function passkeyOf(settings: Settings = {}, changes: Partial<StoredCredential> = {}) {
  const authenticator = softwareAuthenticator(settings);
  authenticator.create(
    {
      rp: { id: expected.rpId, name: "Example" },
      user: { id: legacyUserHandle(userId).toString("base64url"), name: "ada", displayName: "ada" },
      challenge: "AAAA",
      pubKeyCredParams: Object.values(coseAlgorithms).map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { residentKey: "required" },
    },
    { origin },
  );
  const [held] = authenticator.credentials;
  if (!held) throw new Error("no credential was made");
  const stored: StoredCredential = {
    id: held.id.toString("base64url"),
    userId,
    publicKey: held.key.cose,
    signCount: 0,
    backupEligible: (settings.backup ?? "backed-up") !== "no",
    mfaOnly: false,
    transports: [],
    ...changes,
  };
  return { stored, get: (call: Partial<GetCall> = {}) => authenticator.get(request, { origin, ...call }) };
}

async function judge(response: unknown, stored: StoredCredential, changes: Partial<ExpectedAssertion> = {}) {
  const answer = authenticationResponse.parse(response);
  const clientData = readClientData(answer.response.clientDataJSON);
  if (!clientData) throw new Error("no client data");
  return verifyWebAuthnAssertion(answer, clientData, stored, { ...expected, ...changes });
}

const reasonOf = async (...of: Parameters<typeof judge>) => {
  const judged = await judge(...of);
  return judged.ok ? "accepted" : judged.reason;
};

const one = passkeyOf();

describe("an assertion", () => {
  test.each([coseAlgorithms.ES256, coseAlgorithms.EdDSA, coseAlgorithms.RS256])(
    "by algorithm %i is accepted",
    async (algorithm) => {
      const { stored, get } = passkeyOf({ algorithms: [algorithm] });
      expect(await judge(get(), stored)).toEqual({
        ok: true,
        userVerified: true,
        signCount: 0,
        backupState: true,
        signCountStale: false,
      });
    },
  );

  test("states whether the user was verified and whether the passkey is backed up", async () => {
    expect(await judge(one.get({ userVerified: false, backedUp: false }), one.stored)).toMatchObject({
      ok: true,
      userVerified: false,
      backupState: false,
    });
  });

  test("may omit the user handle if the user is known", async () => {
    expect(await reasonOf(one.get({ userHandle: null }), one.stored, { userId })).toBe("accepted");
    expect(await reasonOf(one.get({ userHandle: "" }), one.stored, { userId })).toBe("accepted");
    expect(await reasonOf(one.get(), one.stored, { userId })).toBe("accepted");
  });

  test("V3 has the user handle that an imported passkey was created with, and no other", async () => {
    const handle = Buffer.from("id at another system");
    const imported = { ...one.stored, userHandle: handle };
    expect(await reasonOf(one.get({ userHandle: handle.toString("base64url") }), imported)).toBe("accepted");
    expect(await reasonOf(one.get(), imported)).toBe("user_handle_mismatch");
    const accountHandle = Buffer.alloc(64, 5);
    const own = one.get({ userHandle: accountHandle.toString("base64url") });
    expect(await reasonOf(own, { ...imported, accountHandle })).toBe("user_handle_mismatch");
  });

  test("V3 has the random handle of its account, or the account's id as in former versions", async () => {
    const accountHandle = Buffer.alloc(64, 5);
    const random = one.get({ userHandle: accountHandle.toString("base64url") });
    expect(await reasonOf(random, one.stored)).toBe("user_handle_mismatch");
    for (const userHandle of [accountHandle, null]) {
      const stored = { ...one.stored, userHandle, accountHandle };
      expect(await reasonOf(random, stored)).toBe("accepted");
      expect(await reasonOf(one.get(), stored)).toBe("accepted");
      const other = one.get({ userHandle: Buffer.alloc(64, 6).toString("base64url") });
      expect(await reasonOf(other, stored)).toBe("user_handle_mismatch");
    }
  });

  test("may carry extensions, and a byte order mark", async () => {
    expect(await reasonOf(one.get({ extensions: new Map([["example", true]]) }), one.stored)).toBe(
      "accepted",
    );
    expect(await reasonOf(one.get({ byteOrderMark: true }), one.stored)).toBe("accepted");
  });
});

describe("verifyWebAuthnAssertion", () => {
  test.each<[string, Partial<GetCall>, Partial<ExpectedAssertion>, string]>([
    ["V2 rejects a passkey that was not listed", {}, { allowed: ["AAAA"] }, "credential_not_allowed"],
    ["V3 rejects a passkey of another user", {}, { userId: randomUUID() }, "user_mismatch"],
    [
      "V3 rejects the handle of another user",
      { userHandle: legacyUserHandle(randomUUID()).toString("base64url") },
      { userId },
      "user_handle_mismatch",
    ],
    [
      "V3 rejects the handle of another user, without a known user",
      { userHandle: legacyUserHandle(randomUUID()).toString("base64url") },
      {},
      "user_handle_mismatch",
    ],
    ["V3 rejects a missing handle, without a known user", { userHandle: null }, {}, "user_handle_missing"],
    ["V3 rejects an empty handle, without a known user", { userHandle: "" }, {}, "user_handle_missing"],
    ["V4 rejects another ceremony", { type: "webauthn.create" }, {}, "not_verified"],
    ["V5 rejects another challenge", { challenge: "YW5vdGhlcg" }, {}, "not_verified"],
    ["V6 rejects another origin", { origin: "https://evil.example" }, {}, "not_verified"],
    ["V7 rejects a page in a frame of another origin", { crossOrigin: true }, {}, "cross_origin"],
    ["V8 rejects a top origin", { topOrigin: "https://evil.example" }, {}, "cross_origin"],
    ["V9 rejects another relying party", { rpId: "evil.example" }, {}, "not_verified"],
    ["V10 rejects an absent user", { userPresent: false }, {}, "not_verified"],
    [
      "V11 rejects an unverified user if verification is required",
      { userVerified: false },
      { requireUserVerification: true },
      "not_verified",
    ],
    [
      "V12 rejects a backed-up passkey without backup eligibility",
      { backupEligible: false, backedUp: true },
      {},
      "not_verified",
    ],
    [
      "V13 rejects a passkey that is no longer eligible for backup",
      { backupEligible: false, backedUp: false },
      {},
      "backup_eligibility_changed",
    ],
    ["V14 rejects a broken signature", { brokenSignature: true }, {}, "not_verified"],
    [
      "rejects a byte after the authenticator data",
      { authenticatorDataTail: Buffer.of(0) },
      {},
      "not_verified",
    ],
  ])("%s", async (_what, call, changes, reason) => {
    expect(await reasonOf(one.get(call), one.stored, changes)).toBe(reason);
  });

  test("V13 rejects a passkey that became eligible for backup", async () => {
    const single = passkeyOf({ backup: "no" });
    expect(await reasonOf(single.get(), single.stored)).toBe("accepted");
    expect(await reasonOf(single.get({ backupEligible: true }), single.stored)).toBe(
      "backup_eligibility_changed",
    );
  });

  test("V14 rejects the signature of another passkey", async () => {
    const other = passkeyOf();
    expect(await reasonOf(one.get(), { ...one.stored, publicKey: other.stored.publicKey })).toBe(
      "not_verified",
    );
  });

  test("A62 rejects an ECDSA signature of zeros", async () => {
    const response = one.get();
    const signature = Buffer.from("3006020100020100", "hex").toString("base64url");
    expect(await reasonOf({ ...response, response: { ...response.response, signature } }, one.stored)).toBe(
      "not_verified",
    );
  });

  test("rejects an id that differs from the raw one", async () => {
    expect(await reasonOf({ ...one.get(), rawId: "AAAA" }, one.stored)).toBe("not_verified");
  });

  test("rejects a second factor on its own, after its signature was verified", async () => {
    const key = { ...one.stored, mfaOnly: true };
    expect(await reasonOf(one.get(), key)).toBe("mfa_only");
    expect(await reasonOf(one.get({ brokenSignature: true }), key)).toBe("not_verified");
    const second = { secondFactor: true, userId };
    expect(await reasonOf(one.get(), key, second)).toBe("accepted");
    expect(await reasonOf(one.get({ brokenSignature: true }), key, second)).toBe("not_verified");
  });
});

/** A response with other authenticator data, and with a signature that `signing` makes over it. */
function signedBy(signing: (signed: Buffer) => Buffer, call: Partial<GetCall> = {}, tail = "") {
  const answer = one.get(call);
  const data = Buffer.from(answer.response.authenticatorData, "base64url");
  // The flag of extension data (6.1), if there is some.
  if (tail) data[32] = (data[32] ?? 0) | 0x80;
  const authenticatorData = Buffer.concat([data, Buffer.from(tail, "hex")]);
  const clientData = Buffer.from(answer.response.clientDataJSON, "base64url");
  const signature = signing(Buffer.concat([authenticatorData, sha256(clientData)]));
  return {
    ...answer,
    response: {
      ...answer.response,
      authenticatorData: authenticatorData.toString("base64url"),
      signature: signature.toString("base64url"),
    },
  };
}

describe("a signature of an assertion", () => {
  const keyed = (named: string) => {
    const found = signatureAlgorithms.find(([name]) => name === named);
    if (!found) throw new Error(`${named} is missing`);
    const [, id, key, digest, options] = found;
    return {
      key,
      stored: { ...one.stored, publicKey: coseKeyOf(key, id) },
      signing: (signed: Buffer) => sign(digest, signed, { key, ...options }),
    };
  };

  test.each(signatureAlgorithms.map(([name]) => name))("verifies with %s, for its own data", async (name) => {
    const { stored, signing } = keyed(name);
    expect(await reasonOf(signedBy(signing), stored)).toBe("accepted");
    expect(
      await reasonOf(
        signedBy((signed) => signing(signed.subarray(1))),
        stored,
      ),
    ).toBe("not_verified");
  });

  test("verifies with a stored RSA key whose exponent is 3, as former versions accepted it", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
    const stored = { ...one.stored, publicKey: coseKeyOf(privateKey as KeyObject, -257) };
    expect(
      await reasonOf(
        signedBy((signed) => sign("sha256", signed, privateKey)),
        stored,
      ),
    ).toBe("accepted");
  });

  test("has one encoding with ECDSA", async () => {
    const { key, stored } = keyed("ES256");
    for (const [index] of otherEcdsaEncodings(Buffer.of(), key).entries()) {
      const answer = signedBy((signed) => otherEcdsaEncodings(signed, key)[index] ?? Buffer.of());
      expect(await reasonOf(answer, stored)).toBe("not_verified");
    }
  });

  test.each(["RS256", "PS256"])("has the length of the key with %s", async (name) => {
    const { stored, signing } = keyed(name);
    const { answer, short } = shortRsaSignature((round) => {
      let signature = Buffer.of();
      const answer = signedBy(
        (signed) => {
          signature = signing(signed);
          return signature;
        },
        { signCount: round + 1 },
      );
      return { answer, signature };
    });
    expect(await reasonOf(answer, stored)).toBe("accepted");
    const response = { ...answer.response, signature: short.toString("base64url") };
    expect(await reasonOf({ ...answer, response }, stored)).toBe("not_verified");
  });
});

test.each([
  ["extensions", "a1617801", "accepted"],
  ["a truncated extension", "a1617845ffff", "not_verified"],
  ["extensions that are a list", "80", "not_verified"],
  ["extensions that are a text", "60", "not_verified"],
  ["extensions of a depth that overflows a stack", `a16178${"81".repeat(3000)}01`, "not_verified"],
])("authenticator data with %s, whose signature is valid", async (_what, tail, verdict) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const stored = { ...one.stored, publicKey: coseKeyOf(privateKey, -7) };
  const answer = signedBy((signed) => sign("sha256", signed, privateKey), {}, tail);
  expect(await reasonOf(answer, stored)).toBe(verdict);
});

describe("V15 a signature counter", () => {
  const key = passkeyOf({ counts: true, backup: "no" });

  test.each<[stored: number, sent: number, verdict: string]>([
    [0, 0, "accepted"],
    [0, 1, "accepted"],
    [5, 6, "accepted"],
    [2 ** 31, 2 ** 32 - 1, "accepted"],
    [5, 5, "sign_count"],
    [5, 4, "sign_count"],
    [5, 0, "sign_count"],
  ])("after %i, %i gets the verdict %s", async (stored, sent, verdict) => {
    const credential = { ...key.stored, signCount: stored };
    expect(await reasonOf(key.get({ signCount: sent }), credential)).toBe(verdict);
    expect(await judge(key.get({ signCount: sent }), credential, { signCount: "warn" })).toMatchObject({
      ok: true,
      signCount: sent,
      signCountStale: verdict === "sign_count",
    });
  });

  test("is not reported as stale if the signature is invalid", async () => {
    const credential = { ...key.stored, signCount: 5 };
    expect(await reasonOf(key.get({ signCount: 4, brokenSignature: true }), credential)).toBe("not_verified");
  });
});

describe("the test vectors of WebAuthn Level 3", () => {
  test("are three", () => {
    expect(vectors).toHaveLength(3);
  });

  test.each(vectors)(
    "$id signs in",
    async ({ authentication, credential, flagsAuthentication, origin, rpId }) => {
      const stored = {
        ...one.stored,
        id: credential.id,
        publicKey: Buffer.from(credential.publicKeyCose, "base64url"),
        backupEligible: credential.backupEligible,
      };
      const about = { challenge: authentication.challenge, origins: [origin], rpId, userId };
      expect(await judge(authentication.response, stored, about)).toEqual({
        ok: true,
        userVerified: flagsAuthentication.UV,
        signCount: 0,
        backupState: flagsAuthentication.BS,
        signCountStale: false,
      });
      expect(await reasonOf(authentication.response, stored, { ...about, rpId: "example.com" })).toBe(
        "not_verified",
      );
      expect(await reasonOf(authentication.response, stored, { ...about, challenge: "AAAA" })).toBe(
        "not_verified",
      );
    },
  );
});
/** Frames that the vector's page may be in, and those that it may not be in. */
const framings = ({ topOrigin }: { topOrigin: string | null }) => {
  const listed = topOrigin ?? "https://example.com";
  return {
    accepted: { topOrigins: [listed], startedIn: listed },
    rejected: [
      noFraming,
      { topOrigins: [], startedIn: listed },
      { topOrigins: ["https://app.example.com", `${listed}.evil.example`, `${listed}/`], startedIn: listed },
      ...(topOrigin === null ? [{ topOrigins: [listed], startedIn: null }] : []),
    ],
  };
};

describe("the test vectors of WebAuthn Level 3 in a frame", () => {
  test.each(frameVectors)(
    "V7, V8 $id signs in on an accepted page alone",
    async ({ authentication, credential, flagsAuthentication, origin, rpId, topOrigin }) => {
      const stored = {
        ...one.stored,
        id: credential.id,
        publicKey: Buffer.from(credential.publicKeyCose, "base64url"),
        backupEligible: credential.backupEligible,
      };
      const about = { challenge: authentication.challenge, origins: [origin], rpId, userId };
      const { accepted, rejected } = framings({ topOrigin });
      expect(await judge(authentication.response, stored, { ...about, framing: accepted })).toMatchObject({
        ok: true,
        userVerified: flagsAuthentication.UV,
      });
      for (const framing of rejected)
        expect(await reasonOf(authentication.response, stored, { ...about, framing })).toBe("cross_origin");
      expect(await reasonOf(authentication.response, stored, about)).toBe("cross_origin");
    },
  );

  test("V8 a top origin without a frame of another origin contradicts itself", async () => {
    const top = "https://app.example";
    const framing = { topOrigins: [top], startedIn: top };
    expect(await reasonOf(one.get({ topOrigin: top }), one.stored, { framing })).toBe("cross_origin");
    expect(await reasonOf(one.get({ crossOrigin: true, topOrigin: top }), one.stored, { framing })).toBe(
      "accepted",
    );
  });
});
