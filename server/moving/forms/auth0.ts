import type { Form } from "../form.ts";
import {
  asNumber,
  asText,
  blockedSince,
  identityOf,
  idOf,
  onlyEmail,
  passwordHash,
  type SourceFields,
  sourceFields,
  textOf,
} from "../source-fields.ts";
import type { UserRecordInput } from "../user-record.ts";

const providers = {
  auth0: null,
  email: null,
  sms: null,
  "google-oauth2": "google",
  apple: "apple",
  facebook: "facebook",
  github: "github",
  linkedin: "linkedin",
  windowslive: "microsoft",
};

/** The form of Auth0: lines of the user export, or of the export of hashes, or the JSON array of its bulk import. */
export const auth0: Form = {
  recognizes: (record) =>
    /^[\w-]+\|/.test(asText(record.user_id)) ||
    (["passwordHash", "custom_password_hash", "password_hash"].some((name) => Object.hasOwn(record, name)) &&
      Object.hasOwn(record, "email_verified")),

  convert(record, options) {
    const fields = sourceFields(record);
    const id = fields.text("user_id") ?? exportedId(fields.take("_id"));
    fields.ignore("_id");
    const address = fields.text("email");
    const createdAt = fields.time("created_at");
    const user: UserRecordInput = {
      ...(id === undefined ? {} : { id: idOf("auth0", id) }),
      name: fields.text("name") ?? null,
      given_name: fields.text("given_name") ?? null,
      family_name: fields.text("family_name") ?? null,
      picture: fields.text("picture") ?? null,
      emails: onlyEmail(address, { is_verified: fields.flag("email_verified") }),
      username: fields.text("username") ?? null,
      // Applications read the one, users may write the other.
      private_metadata: {
        ...(fields.object("app_metadata") ?? {}),
        ...(id === undefined ? {} : { auth0_id: id }),
      },
      unsafe_metadata: fields.object("user_metadata") ?? {},
      identities: fields.list("identities").flatMap(({ provider, user_id, profileData }) => {
        const email = textOf((profileData as Record<string, unknown> | undefined)?.email) ?? address;
        return identityOf(fields, providers, options, { provider, subject: asText(user_id), email });
      }),
      created_at: createdAt ?? null,
      updated_at: fields.time("updated_at") ?? null,
    };
    if (fields.flag("blocked")) user.blocked_at = blockedSince(createdAt);
    const hash =
      fields.text("passwordHash") ??
      fields.text("password_hash") ??
      customHash(fields, fields.object("custom_password_hash"));
    Object.assign(user, passwordHash(fields, hash, options));
    user.password_set_at = fields.time("password_set_date") ?? null;
    // Names of Auth0's own.
    fields.ignore("tenant", "connection", "_tmp_is_unique");
    return { ok: true, user, omitted: fields.omitted() };
  },
};

/** The export of hashes names the user by an ObjectId. */
function exportedId(value: unknown): string | undefined {
  const id = textOf((value as Record<string, unknown> | undefined)?.$oid) ?? textOf(value);
  return id === undefined ? undefined : `auth0|${id}`;
}

/** Returns the hash of `custom_password_hash` as text, or omits it. */
function customHash(fields: SourceFields, custom: Record<string, unknown> | undefined): string | undefined {
  if (!custom) return undefined;
  const algorithm = asText(custom.algorithm) || "unknown";
  const { value, encoding } = (custom.hash ?? {}) as Record<string, unknown>;
  const text = textOf(value);
  const asEntered = !custom.password || (custom.password as Record<string, unknown>).encoding === "utf8";
  if (text !== undefined && asEntered && ["bcrypt", "argon2", "pbkdf2"].includes(algorithm)) return text;
  const scrypt =
    text !== undefined && asEntered && algorithm === "scrypt"
      ? scryptText(text, asText(encoding ?? "base64"), custom)
      : undefined;
  if (scrypt === undefined) fields.omit(`password hash (${algorithm.slice(0, 32)})`);
  return scrypt;
}

function scryptText(value: string, encoding: string, custom: Record<string, unknown>): string | undefined {
  const salt = (custom.salt ?? {}) as Record<string, unknown>;
  const saltBytes = bytesOf(textOf(salt.value) ?? "", asText(salt.encoding ?? "utf8"));
  const hash = bytesOf(value, encoding);
  const ln = Math.log2(asNumber(custom.cost ?? 16_384));
  if (!saltBytes || !hash || !Number.isInteger(ln)) return undefined;
  const [r, p] = [asNumber(custom.blockSize ?? 8), asNumber(custom.parallelization ?? 1)];
  return `$scrypt$ln=${ln},r=${r},p=${p}$${saltBytes.toString("base64")}$${hash.toString("base64")}`;
}

function bytesOf(value: string, encoding: string): Buffer | null {
  return encoding === "base64" || encoding === "hex" || encoding === "utf8"
    ? Buffer.from(value, encoding)
    : null;
}
