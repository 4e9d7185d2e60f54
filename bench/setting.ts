/** What the load generator knows about the users and the server's keys. */
export interface Setting {
  password: string;
  /** Secret of all authenticator apps, base 32. */
  totp: string;
  /** PKCS#8 PEM of the private key of all passkeys. */
  passkey: string;
  /** The origin of the server's pages: of Stile, and thus what the hand-made server expects too. */
  origin: string;
  /** API keys of the passkey server and of the authenticator interface. */
  keys: { passkeys: string; authenticator: string };
  /** A session cookie, as `name=value`. */
  cookie: string;
  /** Webhooks that get an event of each login. */
  webhooks: number;
}
