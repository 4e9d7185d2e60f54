import { tenant as openTenant } from "@teamhanko/passkeys-sdk";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { startPasskeyService } from "../../testing/passkey-service.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

// Every method of a published client of this protocol.

const service = await openForTests(startPasskeyService());
const origin = service.server.url;
const tenant = openTenant({ baseUrl: service.base, apiKey: service.key, tenantId: service.tenantId });

/** Verifies a token as an application does, and returns its claims. */
async function verifiedClaims(token: string | undefined) {
  const address = new URL(`${service.base}/${service.tenantId}/.well-known/jwks.json`);
  const { payload } = await jwtVerify(token ?? "", createRemoteJWKSet(address));
  return payload;
}

const responses = {
  create: (authenticator: Authenticator, options: unknown) =>
    authenticator.create(options, { origin }) as never,
  get: (authenticator: Authenticator, options: unknown) => authenticator.get(options, { origin }) as never,
};

describe("the published client", () => {
  const platformAuthenticator = softwareAuthenticator();
  const securityKey = softwareAuthenticator({
    attachment: "cross-platform",
    transports: ["usb"],
    counts: true,
    backup: "no",
  });

  test("has the base URL and tenant id", () => {
    expect(tenant.config).toEqual({ baseUrl: service.base, tenantId: service.tenantId });
  });

  test("registers a passkey", async () => {
    const options = await tenant.registration.initialize({
      userId: "ada",
      username: "ada@example.com",
      displayName: "Ada",
      icon: "https://example.com/ada.png",
    });
    expect(options.publicKey.user).toMatchObject({ name: "ada@example.com", displayName: "Ada" });
    const { token } = await tenant.registration.finalize(responses.create(platformAuthenticator, options));
    expect(await verifiedClaims(token)).toMatchObject({ sub: "ada", aud: ["localhost"] });
  });

  test("registers a user without optional properties", async () => {
    const options = await tenant.registration.initialize({ userId: "a b/ü?", username: "grace" });
    expect(options.publicKey.user.displayName).toBe("grace");
    await tenant.registration.finalize(responses.create(softwareAuthenticator(), options));
    expect(await tenant.user("a b/ü?").credentials()).toHaveLength(1);
  });

  test("signs in with an empty body of type JSON", async () => {
    const options = await tenant.login.initialize();
    expect(options.publicKey?.allowCredentials).toBeUndefined();
    const { token } = await tenant.login.finalize(responses.get(platformAuthenticator, options));
    expect(await verifiedClaims(token)).toMatchObject({ sub: "ada" });
  });

  test("registers and verifies a second factor", async () => {
    const { mfa } = tenant.user("ada");
    const options = await mfa.registration.initialize({ username: "ada@example.com", displayName: "Ada" });
    await mfa.registration.finalize(responses.create(securityKey, options));
    const request = await mfa.login.initialize();
    expect(request.mediation).toBe("optional");
    expect(request.publicKey?.allowCredentials).toHaveLength(2);
    const { token } = await mfa.login.finalize(responses.get(securityKey, request));
    expect(await verifiedClaims(token)).toMatchObject({ sub: "ada" });
  });

  test("lists and deletes credentials of a user", async () => {
    const before = await tenant.user("ada").credentials();
    expect(before.map(({ is_mfa }) => is_mfa)).toEqual([true, false]);
    await tenant.credential(before[0]?.id ?? "").remove();
    expect((await tenant.user("ada").credentials()).map(({ id }) => id)).toEqual([before[1]?.id]);
  });

  test("reads the public keys", async () => {
    const { keys } = await tenant.jwks();
    expect(keys).toEqual([
      { kty: "RSA", use: "sig", alg: "RS256", kid: expect.any(String), n: expect.any(String), e: "AQAB" },
    ]);
  });

  test("receives the reason of an error", async () => {
    const errorWith = (body: object) =>
      expect.objectContaining({ originalError: expect.objectContaining(body) });
    await expect(tenant.credential("AAAA").remove()).rejects.toEqual(
      errorWith({ status: 404, title: "credential with id 'AAAA' not found" }),
    );
    await expect(tenant.user("unknown").mfa.login.initialize()).rejects.toEqual(
      errorWith({ status: 404, title: "user not found" }),
    );
    await expect(tenant.login.finalize({} as never)).rejects.toEqual(
      errorWith({ status: 400, title: "unable to finish login" }),
    );
    const wrongKey = openTenant({
      baseUrl: service.base,
      apiKey: "x".repeat(32),
      tenantId: service.tenantId,
    });
    await expect(wrongKey.user("ada").credentials()).rejects.toEqual(
      errorWith({ status: 401, title: "The api key is invalid" }),
    );
  });
});
