import type { Form } from "../form.ts";
import { asNumber, asText, passwordHash, sourceFields, textOf, timeOf } from "../source-fields.ts";
import type { UserRecordInput } from "../user-record.ts";

/** The form of Hanko's `user export`: a JSON array, or lines. */
export const hanko: Form = {
  recognizes: (record) =>
    ["webauthn_credentials", "otp_secret"].some((name) => Object.hasOwn(record, name)) ||
    (Object.hasOwn(record, "user_id") && !asText(record.user_id).includes("|")) ||
    (typeof record.password === "object" && record.password !== null),

  convert(record, options) {
    const fields = sourceFields(record);
    const user: UserRecordInput = {
      id: fields.text("user_id") ?? null,
      emails: fields.list("emails").map(({ address, is_primary, is_verified }) => ({
        address: asText(address),
        is_primary: is_primary === true,
        is_verified: is_verified === true,
      })),
      username: usernameOf(fields.take("username")) ?? null,
      passkeys: fields.list("webauthn_credentials").map(passkeyOf),
      created_at: fields.time("created_at") ?? null,
      updated_at: fields.time("updated_at") ?? null,
    };
    const password = fields.object("password");
    if (password) {
      Object.assign(user, passwordHash(fields, textOf(password.password), options));
      user.password_set_at = timeOf(password.updated_at) ?? timeOf(password.created_at) ?? null;
    }
    const otp = fields.object("otp_secret");
    if (otp) user.totp = { secret: asText(otp.secret), created_at: timeOf(otp.created_at) ?? null };
    return { ok: true, user, omitted: fields.omitted() };
  },
};

type Passkey = NonNullable<UserRecordInput["passkeys"]>[number];

function passkeyOf(credential: Record<string, unknown>): Passkey {
  const transports = Array.isArray(credential.transports) ? credential.transports.map(asText) : [];
  return {
    id: bare(credential.id),
    public_key: bare(credential.public_key),
    user_handle: textOf(credential.user_handle) === undefined ? null : bare(credential.user_handle),
    sign_count: asNumber(credential.sign_count ?? 0),
    ...(credential.aaguid ? { aaguid: asText(credential.aaguid) } : {}),
    attestation_type: asText(credential.attestation_type ?? "none"),
    transports: transports.filter(Boolean),
    backup_eligible: credential.backup_eligible === true,
    backup_state: credential.backup_state === true,
    mfa_only: credential.mfa_only === true,
    name: textOf(credential.name) ?? null,
    last_used_at: timeOf(credential.last_used_at) ?? null,
    created_at: timeOf(credential.created_at) ?? null,
  };
}

/** base64url without padding. */
function bare(value: unknown): string {
  return asText(value).replace(/=+$/, "");
}

/** Newer exports have an object in place of the text. */
function usernameOf(value: unknown): string | undefined {
  const { username } =
    typeof value === "object" && value !== null ? (value as Record<string, unknown>) : { username: value };
  return textOf(username);
}
