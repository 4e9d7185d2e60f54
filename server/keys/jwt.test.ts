import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  createLocalJWKSet,
  exportJWK,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { describe, expect, it } from "vitest";
import {
  type Algorithm,
  type ExpectedToken,
  isWithinValidity,
  keyIdOf,
  type SigningKey,
  signJwt,
  verifyJwt,
} from "./jwt.ts";

const pairs: Record<Algorithm, { publicKey: KeyObject; privateKey: KeyObject }> = {
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
const algorithms = Object.keys(pairs) as Algorithm[];
const keyOf = (algorithm: Algorithm): SigningKey => ({ id: "ours", algorithm, ...pairs[algorithm] });

const now = new Date("2030-01-01T12:00:00.000Z");
const seconds = now.getTime() / 1000;
const claims = {
  iss: "https://id.example",
  aud: ["app.example"],
  sub: "ada",
  iat: seconds,
  exp: seconds + 60,
};
const expected: ExpectedToken = { typ: "JWT", audience: ["app.example"], issuer: "https://id.example", now };
const ourHeader = { typ: "JWT", kid: "ours" };

const byJose = (
  algorithm: Algorithm,
  header: Partial<JWTHeaderParameters> = {},
  payload: JWTPayload = claims,
) =>
  new SignJWT(payload)
    .setProtectedHeader({ alg: algorithm, ...ourHeader, ...header })
    .sign(pairs[algorithm].privateKey);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with any header and any signature. */
function byHand(header: unknown, signature: (signed: Buffer) => Buffer, payload: unknown = claims): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${signature(Buffer.from(signed)).toString("base64url")}`;
}

describe.each(algorithms)("with %s", (algorithm) => {
  const key = keyOf(algorithm);

  it("another implementation verifies our tokens with our published key", async () => {
    const jwk = { ...(await exportJWK(key.publicKey)), kid: "ours", alg: algorithm };
    const token = signJwt(key, "JWT", claims);
    const verified = await jwtVerify(token, createLocalJWKSet({ keys: [jwk] }), {
      issuer: "https://id.example",
      audience: "app.example",
      typ: "JWT",
      currentDate: now,
    });
    expect(verified.payload).toEqual(claims);
    expect(verified.protectedHeader).toEqual({ alg: algorithm, typ: "JWT", kid: "ours" });
  });

  it("accepts a token that another implementation signed with our key", async () => {
    const token = await byJose(algorithm);
    expect(keyIdOf(token)).toBe("ours");
    expect(verifyJwt(token, key, expected)).toEqual(claims);
  });

  it("rejects a token with any byte changed", () => {
    const token = signJwt(key, "JWT", claims);
    for (let index = 0; index < token.length; index += 7) {
      const other = token[index] === "A" ? "B" : "A";
      expect(
        verifyJwt(`${token.slice(0, index)}${other}${token.slice(index + 1)}`, key, expected),
      ).toBeNull();
    }
  });

  it("A62 rejects a token without a signature, in any spelling of none", () => {
    const unsigned = new UnsecuredJWT(claims).encode();
    for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
      expect(
        verifyJwt(
          byHand({ ...ourHeader, alg }, () => Buffer.alloc(0)),
          key,
          expected,
        ),
      ).toBeNull();
    }
    expect(verifyJwt(unsigned, key, expected)).toBeNull();
    expect(
      verifyJwt(
        byHand({ ...ourHeader, alg: algorithm }, () => Buffer.alloc(0)),
        key,
        expected,
      ),
    ).toBeNull();
  });

  it("A62 rejects a signature of zeros", () => {
    for (const length of [1, 32, 63, 64, 65, 256]) {
      const token = byHand({ ...ourHeader, alg: algorithm }, () => Buffer.alloc(length));
      expect(verifyJwt(token, key, expected)).toBeNull();
    }
  });
});

describe("algorithm confusion", () => {
  const rsa = keyOf("RS256");

  it("A62 rejects HS256 with the public key as its secret", () => {
    const secrets = [
      rsa.publicKey.export({ type: "spki", format: "pem" }),
      rsa.publicKey.export({ type: "spki", format: "der" }),
      JSON.stringify(rsa.publicKey.export({ format: "jwk" })),
    ];
    for (const secret of secrets) {
      for (const alg of ["HS256", "RS256"]) {
        const token = byHand({ ...ourHeader, alg }, (signed) =>
          createHmac("sha256", secret).update(signed).digest(),
        );
        expect(verifyJwt(token, rsa, expected)).toBeNull();
      }
    }
  });

  it.each(algorithms)("A182 a key of %s verifies its own signatures only, under its own name only", (own) => {
    const signers: Record<Algorithm, (signed: Buffer) => Buffer> = {
      RS256: (signed) => sign("sha256", signed, pairs.RS256.privateKey),
      ES256: (signed) => sign("sha256", signed, { key: pairs.ES256.privateKey, dsaEncoding: "ieee-p1363" }),
      EdDSA: (signed) => sign(null, signed, pairs.EdDSA.privateKey),
    };
    const others = algorithms.filter((other) => other !== own);
    const judged = (alg: string, by: Algorithm) =>
      verifyJwt(byHand({ ...ourHeader, alg }, signers[by]), keyOf(own), expected);
    expect(judged(own, own)).toEqual(claims);
    for (const alg of [...others, "Ed25519", "ES384", "RS512", own.toLowerCase()])
      expect(judged(alg, own)).toBeNull();
    for (const other of others) for (const alg of algorithms) expect(judged(alg, other)).toBeNull();
  });

  it("A62 rejects a PS256 signature by the same RSA key under either name", async () => {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "PS256", ...ourHeader })
      .sign(rsa.privateKey);
    expect(verifyJwt(token, rsa, expected)).toBeNull();
    const [, , signature = ""] = token.split(".");
    const renamed = byHand({ ...ourHeader, alg: "RS256" }, () => Buffer.from(signature, "base64url"));
    expect(verifyJwt(renamed, rsa, expected)).toBeNull();
  });

  it("A62 rejects a valid signature under another algorithm's name", () => {
    const token = byHand({ ...ourHeader, alg: "RS512" }, (signed) => sign("sha256", signed, rsa.privateKey));
    expect(verifyJwt(token, rsa, expected)).toBeNull();
  });

  it("A62 rejects an ES256 signature in DER instead of P1363", () => {
    const key = keyOf("ES256");
    const token = byHand({ ...ourHeader, alg: "ES256" }, (signed) => sign("sha256", signed, key.privateKey));
    expect(verifyJwt(token, key, expected)).toBeNull();
  });
});

describe("headers", () => {
  const key = keyOf("ES256");

  it("A64 ignores keys and key URLs in the header", async () => {
    const attacker = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = await exportJWK(attacker.publicKey);
    const keyHeaders = [
      { jwk },
      { jku: "https://evil.example/jwks.json" },
      { x5u: "https://evil.example/cert.pem" },
      { x5c: ["MIIB"] },
    ];
    for (const keyHeader of keyHeaders) {
      const forged = byHand({ alg: "ES256", ...ourHeader, ...keyHeader }, (signed) =>
        sign("sha256", signed, { key: attacker.privateKey, dsaEncoding: "ieee-p1363" }),
      );
      expect(verifyJwt(forged, key, expected)).toBeNull();
      const valid = byHand({ alg: "ES256", ...ourHeader, ...keyHeader }, (signed) =>
        sign("sha256", signed, { key: key.privateKey, dsaEncoding: "ieee-p1363" }),
      );
      expect(verifyJwt(valid, key, expected)).toEqual(claims);
    }
  });

  it("A63 rejects a key id that is not a string", () => {
    for (const kid of [["ours"], { toString: "ours" }, 1, null, undefined]) {
      const token = byHand({ alg: "ES256", typ: "JWT", kid }, () => Buffer.alloc(64));
      expect(keyIdOf(token)).toBeNull();
      expect(verifyJwt(token, key, expected)).toBeNull();
    }
  });

  it("rejects critical extensions", async () => {
    const token = byHand({ alg: "ES256", ...ourHeader, crit: ["b64"], b64: true }, (signed) =>
      sign("sha256", signed, { key: key.privateKey, dsaEncoding: "ieee-p1363" }),
    );
    expect(verifyJwt(token, key, expected)).toBeNull();
  });

  it("A65 rejects a token of another purpose by its typ", async () => {
    for (const typ of ["webhook+jwt", "device+jwt", "at+jwt", "jwt", undefined]) {
      const token = await byJose("ES256", { typ } as Partial<JWTHeaderParameters>);
      expect(verifyJwt(token, key, expected)).toBeNull();
    }
    const session = signJwt(key, "JWT", claims);
    expect(verifyJwt(session, key, { ...expected, typ: "webhook+jwt" })).toBeNull();
  });

  it("rejects malformed tokens", () => {
    const token = signJwt(key, "JWT", claims);
    const malformed = [
      "",
      ".",
      "..",
      "...",
      "a.b.c",
      `${token}.`,
      `${token}.x`,
      ` ${token}`,
      `${token}=`,
      "\0",
      "💥.💥.💥",
    ];
    const deep = `${encode([])}.${encode({})}.`;
    const long = signJwt(key, "JWT", { ...claims, filler: "x".repeat(4096) });
    for (const text of [...malformed, deep, long, token.split(".").slice(0, 2).join(".")]) {
      expect(verifyJwt(text, key, expected)).toBeNull();
    }
    expect(keyIdOf(long)).toBeNull();
    expect(keyIdOf("")).toBeNull();
  });
});

describe("claims", () => {
  const key = keyOf("EdDSA");
  const judge = (payload: object, wanted: Partial<ExpectedToken> = {}) =>
    verifyJwt(signJwt(key, "JWT", payload), key, { ...expected, ...wanted });

  it("A65 rejects another audience or issuer, and accepts one of several audiences", () => {
    expect(judge({ ...claims, aud: "app.example" })).not.toBeNull();
    expect(judge({ ...claims, aud: ["other.example", "app.example"] })).not.toBeNull();
    for (const aud of ["other.example", ["other.example"], [["app.example"]], [], undefined, null, {}]) {
      expect(judge({ ...claims, aud })).toBeNull();
    }
    expect(judge({ ...claims, iss: "https://evil.example" })).toBeNull();
    expect(judge({ ...claims, iss: undefined })).toBeNull();
  });

  it("A65 tolerates a clock difference of 60 seconds at most", () => {
    const at = (offset: number) => seconds + offset;
    expect(judge({ ...claims, exp: at(-59) })).not.toBeNull();
    expect(judge({ ...claims, exp: at(-60) })).toBeNull();
    expect(judge({ ...claims, exp: at(-61) })).toBeNull();
    expect(judge({ ...claims, nbf: at(60) })).not.toBeNull();
    expect(judge({ ...claims, nbf: at(61) })).toBeNull();
    expect(judge({ ...claims, iat: at(61) })).toBeNull();
  });

  it("rejects times that are not numbers, and a missing exp", () => {
    for (const time of [String(seconds + 60), null, [seconds + 60]]) {
      expect(judge({ ...claims, exp: time })).toBeNull();
      expect(judge({ ...claims, nbf: time })).toBeNull();
    }
    expect(judge({ ...claims, exp: undefined })).toBeNull();
  });

  it("leaves times unchecked if the caller checks them later", () => {
    const late = { ...claims, exp: seconds - 3600 };
    expect(judge(late, { now: "unchecked" })).toEqual(late);
    expect(isWithinValidity(late, now)).toBe(false);
    expect(isWithinValidity(claims, now)).toBe(true);
  });

  it("rejects claims that are not an object", () => {
    expect(judge([claims])).toBeNull();
    const text = byHand(
      { alg: "EdDSA", ...ourHeader },
      (signed) => sign(null, signed, key.privateKey),
      "ada",
    );
    expect(verifyJwt(text, key, expected)).toBeNull();
  });
});
