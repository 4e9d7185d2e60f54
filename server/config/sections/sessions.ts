import { claimTemplates } from "./claim-templates.ts";
import { choice, cookieName, count, flag, list, seconds, section, text } from "./leaves.ts";

/** Claims that templates cannot set: those of every token, and those that clients get beside them. */
const reservedClaims = new Set([
  "iss",
  "sub",
  "aud",
  "exp",
  "nbf",
  "iat",
  "jti",
  "session_id",
  "amr",
  "email",
  "username",
  "subject",
  "expiration",
  "issued_at",
  "audience",
  "issuer",
]);

/** Sessions, their JWT and their cookie. */
export const session = section({
  lifespan: seconds(12 * 3600).describe("Life of a session."),
  idle_timeout: seconds(0).describe("A session unused for so long ends; 0 turns this off."),
  allow_revocation: flag(true).describe("Users may end their other sessions."),
  show_on_profile: flag(true).describe("Show users their sessions."),
  step_up_after: seconds(900).describe(
    "Age of the last proof from which on a change of factors, addresses or the password asks for a new one; 0 turns this off.",
  ),
  limit: count(5, 1, 1000).describe("Most sessions of one account; the oldest are ended."),
  acquire_ip_address: flag(true).describe("Keep the address a session was opened from."),
  acquire_user_agent: flag(true).describe("Keep the browser a session was opened with."),
  enable_auth_token_header: flag(false).describe("Answer X-Auth-Token instead of setting the cookie."),
  issuer: text("").describe("iss of the session's JWT. Default: base_url."),
  audience: list().describe("aud of the session's JWT. Default: the relying party id."),
  algorithm: choice(["RS256", "ES256", "EdDSA"], "RS256").describe(
    "Signs the session's JWT and the tokens of webhooks; EdDSA with Ed25519. A change makes a new key, and tokens of the former one stay valid.",
  ),
  jwt_template: section({
    claims: claimTemplates(reservedClaims).describe(
      'Further claims of the session\'s JWT: constants, or templates over .User in the syntax of Go, as in {"role":"user","mail":"{{.User.Email.Address}}"}.',
    ),
  }),
  device_bound: section({
    mode: choice(["off", "offered", "required"], "offered").describe(
      "Device-bound session credentials: browsers that can bind a session to a key of the device are asked to. required: without it a session cookie lasts for session.device_bound.lifetime.",
    ),
    lifetime: seconds(600, { min: 300, max: 3600 }).describe(
      "Life of the bound cookie, which the browser renews by a proof of the key.",
    ),
    include_site: flag(false).describe(
      "With session.cookie.domain: the binding covers all hosts of that domain, which must be a registrable one and serve /.well-known/device-bound-sessions. Without it sessions under such a domain are not bound.",
    ),
  }),
  cookie: section({
    name: cookieName("service").describe("Name of the session cookie."),
    domain: text("", 254).describe("Domain attribute of the session cookie; empty for this host alone."),
    same_site: choice(["strict", "lax", "none"], "lax").describe("SameSite attribute of the session cookie."),
    retention: choice(["persistent", "session", "prompt"], "persistent").describe(
      "Whether the cookie outlives the browser; prompt asks the user.",
    ),
  }),
});
