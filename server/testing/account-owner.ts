import { randomBytes, randomUUID } from "node:crypto";
import { schema } from "#db/client";
import type { Factor } from "#db/schema/sessions";
import type { FlowCoverage } from "../flow/coverage.ts";
import { addEmail } from "../identity/email/emails.ts";
import { readPicture, setUploadedPicture } from "../identity/picture.ts";
import { createUser } from "../identity/users.ts";
import { issueSession } from "../sessions/sessions.ts";
import { credentialRow } from "./credential-row.ts";
import { type Walk, walk } from "./flow-walk.ts";
import { jpegPicture } from "./jpeg-pictures.ts";
import { newAddress, password } from "./people.ts";
import { requestContext } from "./request-context.ts";
import type { TestRuntime } from "./runtime.ts";

/** The credentials and addresses of a new account. */
export interface AccountContents {
  /** Number of verified addresses, the primary one first. Default: one. */
  emails?: number;
  /** An additional unverified address. */
  unverified?: string;
  username?: string;
  /** A phone number in canonical form, verified unless it says otherwise. */
  phone?: { number: string; verified?: false };
  /** Stores a hash of the test password. */
  password?: true;
  passkeys?: number;
  securityKeys?: number;
  /** Number of authenticators (UAF). */
  phones?: number;
  /** Client ids of applications that the user has allowed to know the address. */
  applications?: string[];
  /** Stores a trusted browser with a random token. */
  trustedBrowser?: true;
  /** A random secret. */
  totp?: true;
  recoveryCodes?: true;
  /** An uploaded picture. */
  picture?: true;
  /** Ids of the linked providers. */
  identities?: string[];
}

/** A signed-in user with an account. */
export interface AccountOwner {
  userId: string;
  /** Primary one first. */
  addresses: string[];
  /** Ids of passkeys and of security keys, as clients see them. */
  passkeys: string[];
  securityKeys: string[];
  /** Ids of authenticators (UAF). */
  phones: string[];
  sessionId: string;
  /** The token of the same session. */
  sessionToken: string;
  /** Issues another session. */
  signInElsewhere(): Promise<string>;
  /** Starts a profile flow and registers the capabilities of the browser. */
  manage(options?: {
    sessionId?: string;
    able?: object;
    taken?: FlowCoverage;
    as?: TestRuntime;
  }): Promise<Walk>;
}

const allCapabilities = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};

/**
 * Creates an account directly in the database, with a session of its owner.
 *
 * @param proved methods and age of the authentication. Default: password and TOTP, just now
 */
export async function accountOwner(
  runtime: TestRuntime,
  has: AccountContents = {},
  proved: { secondsAgo?: number; methods?: Factor["method"][]; taken?: FlowCoverage } = {},
): Promise<AccountOwner> {
  const { tenant, platform, database } = runtime;
  const { secondsAgo = 0, methods = ["password", "totp"], taken } = proved;
  const userId = randomUUID();
  const now = new Date(Date.now() + platform.clockShift());
  const own = { tenantId: tenant.id, userId };
  const addresses = Array.from({ length: has.emails ?? 1 }, newAddress);
  const ids = (count = 0) => Array.from({ length: count }, () => randomBytes(16).toString("base64url"));
  const [passkeys, securityKeys] = [ids(has.passkeys), ids(has.securityKeys)];
  const phones = Array.from({ length: has.phones ?? 0 }, () => randomUUID());
  const hash = has.password ? await runtime.passwordHasher.hash(password) : null;
  const factors = methods.map((method) => ({
    method,
    at: new Date(now.getTime() - secondsAgo * 1000).toISOString(),
  }));

  await database.write.transaction(async (tx) => {
    const identifiers = {
      ...(has.username ? { username: { value: has.username } } : {}),
      ...(has.phone
        ? { phone: { value: has.phone.number, verifiedAt: has.phone.verified === false ? null : now } }
        : {}),
    };
    await createUser(tx, tenant.id, { id: userId, now, platform, identifiers });
    const picture = has.picture ? readPicture(jpegPicture("square").toString("base64url")) : null;
    if (picture) await setUploadedPicture(tx, tenant.id, { userId, id: randomUUID(), picture, now });
    for (const [index, address] of addresses.entries()) {
      const email = { userId, address, isPrimary: index === 0, verifiedAt: now, id: randomUUID() };
      await addEmail(tx, tenant.id, { ...email, now: new Date(now.getTime() + index) });
    }
    if (has.unverified) {
      const email = { userId, address: has.unverified, isPrimary: addresses.length === 0, verifiedAt: null };
      await addEmail(tx, tenant.id, { ...email, id: randomUUID(), now });
    }
    if (hash) await tx.insert(schema.passwords).values({ ...own, hash });
    if (has.totp) {
      await tx.insert(schema.totpSecrets).values({ ...own, sealedSecret: Buffer.of(1), lastStep: 1 });
    }
    if (has.recoveryCodes)
      await tx.insert(schema.recoveryCodes).values({ ...own, codeHash: randomBytes(32) });
    for (const [index, id] of [...passkeys, ...securityKeys].entries()) {
      const createdAt = new Date(now.getTime() + index);
      const row = credentialRow({ ...own, id, mfaOnly: securityKeys.includes(id), createdAt });
      await tx.insert(schema.webauthnCredentials).values(row);
    }
    if (has.trustedBrowser) {
      const token = { tokenHash: randomBytes(32), expiresAt: new Date(now.getTime() + 3_600_000) };
      await tx.insert(schema.trustedDevices).values({ ...own, ...token, id: randomUUID() });
    }
    const allowed = { scopes: ["openid", "email"], claims: [], resources: {} };
    for (const clientId of has.applications ?? [])
      await tx.insert(schema.openidConsents).values({ ...own, clientId, allowed });
    for (const id of phones) {
      await tx.insert(schema.authenticatorDevices).values({
        ...own,
        id,
        aaid: "0001#0001",
        keyId: randomBytes(8),
        publicKey: Buffer.of(4),
        keyFormat: 256,
        algorithm: 1,
        signCounter: 0,
        regCounter: 0,
        authenticatorVersion: 1,
        attestation: "surrogate",
        keyName: "Pixel",
        model: "Pixel 9",
        isSecondFactorOnly: true,
        createdAt: now,
        lastUsedAt: now,
      });
    }
    for (const provider of has.identities ?? []) {
      await tx
        .insert(schema.identities)
        .values({ ...own, id: randomUUID(), provider, subject: randomUUID(), createdAt: now });
    }
  });

  async function signIn(): Promise<{ id: string; token: string }> {
    const made = await issueSession(requestContext(runtime, { now }), {
      userId,
      factors,
      amr: [],
      rememberMe: false,
    });
    await database.write.transaction(made.write);
    return made.issued;
  }

  const { id: sessionId, token: sessionToken } = await signIn();
  return {
    userId,
    addresses,
    passkeys,
    securityKeys,
    phones,
    sessionId,
    sessionToken,
    signInElsewhere: async () => (await signIn()).id,
    async manage(options = {}) {
      const told = options.taken ?? taken;
      const flow = await walk(options.as ?? runtime, "profile", {
        sessionId: options.sessionId ?? sessionId,
        ...(told ? { taken: told } : {}),
      });
      await flow.act("register_client_capabilities", { ...allCapabilities, ...options.able });
      return flow;
    },
  };
}
