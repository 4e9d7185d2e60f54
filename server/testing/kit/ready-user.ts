import { randomBytes, randomUUID } from "node:crypto";
import { type AuthenticatorApp, authenticatorApp, toBase32 } from "../authenticator-app.ts";
import { coseAlgorithms } from "../cose-key.ts";
import { type Authenticator, softwareAuthenticator } from "../webauthn-authenticator.ts";
import type { HostUser } from "./host-calls.ts";

/** What a user should have. */
export interface UserWish {
  /** Verified and primary. Default: a random address, unless there is a username. */
  email?: string;
  username?: string;
  password?: string;
  /** A passkey in a new software authenticator, or in the one given. */
  passkey?: boolean | Authenticator;
  /** An authenticator app as a second factor. */
  totp?: boolean;
  name?: string;
  /** The address is not verified yet. */
  unverified?: boolean;
  /** Seen by the user and by applications. */
  publicMetadata?: Record<string, unknown>;
}

/** A user that exists, with what a test needs to sign in. */
export interface ReadyUser {
  id: string;
  /** Empty without an address. */
  email: string;
  username?: string;
  password?: string;
  /** Holds the user's passkey. For a browser, hand it to the `take` of a virtual authenticator. */
  authenticator?: Authenticator;
  /** The user's authenticator app; `stile.code(user)` reads its code. */
  app?: AuthenticatorApp;
}

const TOTP_SECRET_BYTES = 20;

/**
 * Makes a user, and its record for the server.
 *
 * @param url base address of the server, whose host is the relying party
 */
export function newUser(wish: UserWish, url: string): { user: ReadyUser; record: HostUser } {
  const id = randomUUID();
  const { username, password, name, totp, passkey } = wish;
  const email = wish.email ?? (username === undefined ? `${id}@example.com` : "");
  const secret = toBase32(randomBytes(TOTP_SECRET_BYTES));
  const authenticator = passkey === true ? softwareAuthenticator() : passkey || undefined;
  const user: ReadyUser = {
    id,
    email,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(authenticator ? { authenticator } : {}),
    ...(totp ? { app: authenticatorApp(secret) } : {}),
  };
  const record = {
    name,
    username,
    emails: email ? [{ address: email, is_primary: true, is_verified: !wish.unverified }] : [],
    public_metadata: wish.publicMetadata,
    ...(totp ? { totp: { secret } } : {}),
    ...(authenticator ? { passkeys: [passkeyOf(authenticator, id, url)] } : {}),
  };
  return { user, record: { id, record, password: password ?? null } };
}

/** Makes a passkey, and its row of the record. */
function passkeyOf(authenticator: Authenticator, userId: string, url: string) {
  const handle = Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
  const rpId = new URL(url).hostname;
  authenticator.create(
    {
      rp: { id: rpId, name: rpId },
      user: { id: handle, name: userId, displayName: userId },
      challenge: randomBytes(32).toString("base64url"),
      pubKeyCredParams: Object.values(coseAlgorithms).map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    },
    { origin: url },
  );
  const credential = authenticator.credentials.at(-1);
  if (!credential) throw new Error("the authenticator made no passkey");
  return {
    id: credential.id.toString("base64url"),
    public_key: credential.key.cose.toString("base64url"),
    sign_count: credential.signCount,
    transports: ["internal", "hybrid"],
    backup_eligible: true,
    backup_state: true,
    user_verified: true,
  };
}
