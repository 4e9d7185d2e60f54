import type { Form } from "../form.ts";
import {
  blockedSince,
  identityOf,
  onlyEmail,
  parsed,
  passwordHash,
  sourceFields,
  textOf,
  timeOf,
} from "../source-fields.ts";
import { isObject, type UserRecordInput } from "../user-record.ts";

const providers = {
  email: null,
  phone: null,
  google: "google",
  apple: "apple",
  azure: "microsoft",
  discord: "discord",
  facebook: "facebook",
  github: "github",
  linkedin: "linkedin",
  linkedin_oidc: "linkedin",
};

/** Columns that hold tokens of pending requests, and what follows from other columns. */
const transient = [
  "instance_id",
  "confirmed_at",
  "confirmation_token",
  "confirmation_sent_at",
  "recovery_token",
  "recovery_sent_at",
  "email_change",
  "email_change_token_new",
  "email_change_token_current",
  "email_change_sent_at",
  "email_change_confirm_status",
  "phone_change",
  "phone_change_token",
  "phone_change_sent_at",
  "reauthentication_token",
  "reauthentication_sent_at",
];

/** The form of Supabase: rows of `auth.users`, as lines of JSON or CSV, with rows of `auth.identities` as `identities`. */
export const supabase: Form = {
  recognizes: (record) =>
    ["encrypted_password", "raw_user_meta_data", "raw_app_meta_data"].some((name) =>
      Object.hasOwn(record, name),
    ),

  convert(record, options) {
    const fields = sourceFields(record);
    const id = fields.text("id");
    if (id === undefined) return { ok: false, reason: "id is missing" };
    if (fields.time("deleted_at") !== undefined)
      return { ok: false, reason: "the user is deleted (deleted_at)" };
    if (fields.flag("is_anonymous")) return { ok: false, reason: "the user is anonymous (is_anonymous)" };
    const verifiedAt = fields.time("email_confirmed_at");
    // Users may write the one, applications alone the other, both of which tokens contain.
    const written = fields.object("raw_user_meta_data") ?? {};
    const user: UserRecordInput = {
      id,
      name: textOf(written.full_name) ?? textOf(written.name) ?? null,
      picture: textOf(written.avatar_url) ?? textOf(written.picture) ?? null,
      emails: onlyEmail(fields.text("email"), { is_verified: Boolean(verifiedAt), verified_at: verifiedAt }),
      public_metadata: fields.object("raw_app_meta_data") ?? {},
      unsafe_metadata: written,
      identities: fields.list("identities").flatMap(({ provider, provider_id, identity_data }) => {
        const data = parsed(identity_data);
        const facts = isObject(data) ? data : {};
        const subject = textOf(provider_id) ?? facts.sub;
        return identityOf(fields, providers, options, { provider, subject, email: facts.email });
      }),
      created_at: fields.time("created_at") ?? null,
      updated_at: fields.time("updated_at") ?? null,
      ...passwordHash(fields, fields.text("encrypted_password"), options),
    };
    const banned = fields.take("banned_until");
    if (banned !== undefined) {
      const until = timeOf(banned);
      // `infinity`, or a year that is too far away.
      if (until === undefined || new Date(until) > new Date())
        user.blocked_at = blockedSince(user.created_at);
      // A ban that ends by itself does not exist here.
      if (user.blocked_at && until !== undefined) fields.omit("banned_until (blocked without an end)");
    }
    fields.ignore(...transient);
    if (record.role === "authenticated") fields.ignore("role", "aud");
    return { ok: true, user, omitted: fields.omitted() };
  },
};
