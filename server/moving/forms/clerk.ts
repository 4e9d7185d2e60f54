import type { Form, SourceOptions } from "../form.ts";
import { blockedSince, idOf, passwordHash, type SourceFields, sourceFields } from "../source-fields.ts";
import type { UserRecordInput } from "../user-record.ts";

/** The form of Clerk's export: CSV with a head. Lists within a value are separated by `|` or commas. */
export const clerk: Form = {
  recognizes: (record) => Object.hasOwn(record, "primary_email_address"),

  convert(record, options) {
    const fields = sourceFields(record);
    const id = fields.text("id");
    if (id === undefined) return { ok: false, reason: "id is missing" };
    const primary = fields.text("primary_email_address");
    const verified = fields.text("verified_email_addresses");
    const unverified = fields.text("unverified_email_addresses");
    const addresses = new Map<string, boolean>(listOf(verified).map((address) => [address, true]));
    for (const address of [...listOf(unverified), ...listOf(primary)])
      if (!addresses.has(address)) addresses.set(address, false);
    const [first, last] = [fields.text("first_name"), fields.text("last_name")];
    const secret = fields.text("totp_secret");
    const createdAt = fields.time("created_at") ?? null;
    const user: UserRecordInput = {
      id: idOf("clerk", id),
      name: [first, last].filter(Boolean).join(" ") || null,
      given_name: first ?? null,
      family_name: last ?? null,
      picture: fields.text("image_url") ?? null,
      emails: [...addresses].map(([address, isVerified]) => ({
        address,
        is_primary: address === primary,
        is_verified: isVerified,
      })),
      username: fields.text("username") ?? null,
      public_metadata: fields.object("public_metadata") ?? {},
      private_metadata: { ...(fields.object("private_metadata") ?? {}), clerk_id: id },
      unsafe_metadata: fields.object("unsafe_metadata") ?? {},
      created_at: createdAt,
      updated_at: fields.time("updated_at") ?? null,
      ...(secret === undefined ? {} : { totp: { secret } }),
      ...hashOf(fields, options),
    };
    if (fields.flag("banned")) user.blocked_at = blockedSince(createdAt);
    return { ok: true, user, omitted: fields.omitted() };
  },
};

function listOf(text: string | undefined): string[] {
  return (text ?? "").split(/[|,\s]+/).filter(Boolean);
}

function hashOf(fields: SourceFields, options: SourceOptions) {
  const digest = fields.text("password_digest");
  const hasher = fields.text("password_hasher") ?? "bcrypt";
  if (digest === undefined) return {};
  const text = textOfHash(hasher, digest);
  if (text === undefined) fields.omit(`password hash (${hasher.slice(0, 32)})`);
  return passwordHash(fields, text, options);
}

/** The text of a hash as `parseImportedHash` reads it; undefined for a scheme that is not verified here. */
function textOfHash(hasher: string, digest: string): string | undefined {
  if (
    ["bcrypt", "argon2id", "argon2i", "pbkdf2_sha1", "pbkdf2_sha256_django", "pbkdf2_sha512"].includes(hasher)
  )
    return digest;
  if (hasher === "scrypt_werkzeug") return digest;
  // Unlike Django's, its salt is in base64.
  if (hasher === "pbkdf2_sha256") return digest.replace(/^pbkdf2_sha256\$/, "$pbkdf2-sha256$");
  if (hasher !== "scrypt_firebase") return undefined;
  const [hash, salt, key, separator, rounds, memory] = digest.split("$");
  return `$fbscrypt$v=1,n=${memory},r=${rounds},p=1,ss=${separator},sk=${key}$${salt}$${hash}`;
}
