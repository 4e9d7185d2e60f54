import { z } from "zod";
import { consoleRoles } from "../../identity/console-roles.ts";

/** Schemas of sessions. */

const time = z.iso.datetime();

/** The claims of a session in client form. */
const claims = z
  .looseObject({
    subject: z.guid().describe("The id of the user."),
    session_id: z.guid(),
    expiration: time,
    issued_at: time,
    audience: z.array(z.string()),
    issuer: z.string(),
    amr: z.array(z.string()).optional().describe("Authentication method references (RFC 8176)."),
    email: z.object({ address: z.string(), is_primary: z.boolean(), is_verified: z.boolean() }).optional(),
    username: z.string().optional(),
    act: z
      .object({
        sub: z.string().describe("The id of its account."),
        iss: z.string().describe("The issuer of the tenant of that."),
        role: z.enum(consoleRoles),
      })
      .optional()
      .describe("The operator who acts as the user (RFC 8693, 4.1); absent for the user."),
  })
  .meta({ id: "SessionClaims", description: "Claims of `session.jwt_template` come beside these." });

/** The answer of `/sessions/validate`. */
export const validation = z
  .object({
    is_valid: z.boolean().describe("The other members are there if it is true."),
    claims: claims.optional(),
    expiration_time: time.optional(),
    user_id: z.guid().optional(),
    idle_expires_at: time.optional(),
  })
  .meta({ id: "SessionValidation" });

/** The body of `POST /sessions/validate`. */
export const tokenToValidate = z.object({
  session_token: z.string().min(1),
  bound_token: z
    .string()
    .nullable()
    .optional()
    .describe("The bound cookie that came with the session cookie, null if there was none."),
});

/** Session instructions of device-bound session credentials (DBSC, 9.6). */
export const bindingInstructions = z
  .object({
    session_identifier: z.guid(),
    continue: z.literal(false).optional().describe("Only where sessions are not bound any more."),
    refresh_url: z.string().optional(),
    scope: z
      .object({
        origin: z.string().optional(),
        include_site: z.boolean(),
        scope_specification: z.array(z.object({ type: z.enum(["include", "exclude"]), path: z.string() })),
      })
      .optional(),
    credentials: z
      .array(z.object({ type: z.literal("cookie"), name: z.string(), attributes: z.string() }))
      .optional(),
    allowed_refresh_initiators: z.array(z.string()).optional(),
  })
  .meta({ id: "BindingInstructions" });

/** The answer of `/.well-known/device-bound-sessions`. */
export const registeringOrigins = z
  .object({ registering_origins: z.array(z.string()) })
  .meta({ id: "RegisteringOrigins" });

/** The body of `POST /token`. */
export const codeRedemption = z.strictObject({
  code: z.string(),
  code_verifier: z.string().describe("RFC 7636, 4.5."),
  redirect_to: z.string().optional().describe("The address that the code was sent to."),
});

/** The answer of `POST /token`. */
export const redeemedSession = z
  .object({ session_token: z.string(), user_id: z.guid(), expiration_time: time })
  .meta({ id: "RedeemedSession" });

/** Public keys (RFC 7517, 5). */
export const keySet = z
  .object({
    keys: z.array(
      z
        .looseObject({ kty: z.string(), kid: z.string(), alg: z.string(), use: z.literal("sig") })
        .meta({ id: "PublicKey" }),
    ),
  })
  .meta({ id: "KeySet" });
