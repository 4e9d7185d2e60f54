/** What the benchmark knows about the users and the keys of the running Stile. */
export interface Setting {
  password: string;
  /** Of the password of all users. */
  passwordHash: string;
  /** Secret of all authenticator apps, base 32. */
  totp: string;
  /** PKCS#8 PEM of the private key of all passkeys. */
  passkey: string;
  /** The origin of the server's pages: of Stile, and thus what the hand-made server expects too. */
  origin: string;
  /** API keys, by interface. */
  keys: { admin: string; passkeys: string; authenticator: string };
  /** A session cookie, as `name=value`. */
  cookie: string;
  /** Webhooks that get an event of each login. */
  webhooks: number;
}
