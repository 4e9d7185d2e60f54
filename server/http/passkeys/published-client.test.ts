import { tenant as openTenant, type Tenant } from "@teamhanko/passkeys-sdk";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PasskeyService, startPasskeyService } from "../../testing/passkey-service.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

// A client of the passkey server that others have published, unchanged: every method that it has.

let service: PasskeyService;
let tenant: Tenant;
let origin: string;

beforeAll(async () => {
  service = await startPasskeyService();
  origin = service.server.url;
  tenant = openTenant({ baseUrl: service.base, apiKey: service.key, tenantId: service.tenantId });
});

afterAll(() => service?.close());

/** What a published consumer of tokens does with them. */
async function verified(token: string | undefined) {
  const address = new URL(`${service.base}/${service.tenantId}/.well-known/jwks.json`);
  const { payload } = await jwtVerify(token ?? "", createRemoteJWKSet(address));
  return payload;
}

const answers = {
  create: (authenticator: Authenticator, options: unknown) =>
    authenticator.create(options, { origin }) as never,
  get: (authenticator: Authenticator, options: unknown) => authenticator.get(options, { origin }) as never,
};

describe("the published client", () => {
  const phone = softwareAuthenticator();
  const key = softwareAuthenticator({
    attachment: "cross-platform",
    transports: ["usb"],
    counts: true,
    backup: "no",
  });

  test("knows where it is", () => {
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
    const { token } = await tenant.registration.finalize(answers.create(phone, options));
    expect(await verified(token)).toMatchObject({ sub: "ada", aud: ["localhost"] });
  });

  test("registers another user without what need not be", async () => {
    const options = await tenant.registration.initialize({ userId: "a b/ü?", username: "grace" });
    expect(options.publicKey.user.displayName).toBe("grace");
    await tenant.registration.finalize(answers.create(softwareAuthenticator(), options));
    expect(await tenant.user("a b/ü?").credentials()).toHaveLength(1);
  });

  test("signs in, by a body that is empty and says it is JSON", async () => {
    const options = await tenant.login.initialize();
    expect(options.publicKey?.allowCredentials).toBeUndefined();
    const { token } = await tenant.login.finalize(answers.get(phone, options));
    expect(await verified(token)).toMatchObject({ sub: "ada" });
  });

  test("registers a second factor, and asks for it", async () => {
    const { mfa } = tenant.user("ada");
    const options = await mfa.registration.initialize({ username: "ada@example.com", displayName: "Ada" });
    await mfa.registration.finalize(answers.create(key, options));
    const request = await mfa.login.initialize();
    expect(request.mediation).toBe("optional");
    expect(request.publicKey?.allowCredentials).toHaveLength(2);
    const { token } = await mfa.login.finalize(answers.get(key, request));
    expect(await verified(token)).toMatchObject({ sub: "ada" });
  });

  test("lists the credentials of a user, and removes one", async () => {
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

  test("is told why something was refused", async () => {
    const refused = (body: object) =>
      expect.objectContaining({ originalError: expect.objectContaining(body) });
    await expect(tenant.credential("AAAA").remove()).rejects.toEqual(
      refused({ status: 404, title: "credential with id 'AAAA' not found" }),
    );
    await expect(tenant.user("nobody").mfa.login.initialize()).rejects.toEqual(
      refused({ status: 404, title: "user not found" }),
    );
    await expect(tenant.login.finalize({} as never)).rejects.toEqual(
      refused({ status: 400, title: "unable to finish login" }),
    );
    const stranger = openTenant({
      baseUrl: service.base,
      apiKey: "x".repeat(32),
      tenantId: service.tenantId,
    });
    await expect(stranger.user("ada").credentials()).rejects.toEqual(
      refused({ status: 401, title: "The api key is invalid" }),
    );
  });
});
