import type { FirebaseHashParameters, Form } from "../form.ts";
import { blockedSince, identityOf, idOf, onlyEmail, passwordHash, sourceFields } from "../source-fields.ts";
import type { UserRecordInput } from "../user-record.ts";

const providers = {
  "google.com": "google",
  "apple.com": "apple",
  "facebook.com": "facebook",
  "github.com": "github",
  "microsoft.com": "microsoft",
  password: null,
  // A phone number is reported as such.
  phone: null,
};

/** The form of `firebase auth:export --format=json`: an object with the array `users`. */
export const firebase: Form = {
  recognizes: (record) => typeof record.localId === "string",

  convert(record, options) {
    const fields = sourceFields(record);
    const id = fields.text("localId");
    if (id === undefined) return { ok: false, reason: "localId is missing" };
    const claims = fields.object("customAttributes") ?? fields.object("customClaims");
    const user: UserRecordInput = {
      id: idOf("firebase", id),
      name: fields.text("displayName") ?? null,
      picture: fields.text("photoUrl") ?? null,
      emails: onlyEmail(fields.text("email"), { is_verified: fields.flag("emailVerified") }),
      public_metadata: claims ?? {},
      private_metadata: { firebase_id: id },
      identities: fields
        .list("providerUserInfo")
        .flatMap(({ providerId, rawId, email }) =>
          identityOf(fields, providers, options, { provider: providerId, subject: rawId, email }),
        ),
      created_at: fields.time("createdAt") ?? null,
    };
    if (fields.flag("disabled")) user.blocked_at = blockedSince(user.created_at);
    const [hash, salt] = [fields.text("passwordHash"), fields.text("salt") ?? ""];
    if (hash !== undefined && options.firebase)
      Object.assign(user, passwordHash(fields, hashText(hash, salt, options.firebase), options));
    else if (hash !== undefined)
      fields.omit("password hash (the hash parameters of the project are not given)");
    user.password_set_at = fields.time("passwordUpdatedAt") ?? null;
    // Since when tokens are valid, of which none is imported.
    fields.ignore("version", "validSince");
    return { ok: true, user, omitted: fields.omitted() };
  },
};

function hashText(hash: string, salt: string, parameters: FirebaseHashParameters): string {
  const { base64_signer_key, base64_salt_separator, rounds, mem_cost } = parameters;
  const separator = base64_salt_separator === "" ? "" : `,ss=${base64_salt_separator}`;
  return `$fbscrypt$v=1,n=${mem_cost},r=${rounds},p=1${separator},sk=${base64_signer_key}$${salt}$${hash}`;
}
