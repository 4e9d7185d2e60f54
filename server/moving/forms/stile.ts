import type { Form } from "../form.ts";
import type { UserRecordInput } from "../user-record.ts";

/** The form of `stile users export`. Nothing is left out of it: an unknown or invalid member rejects the user. */
export const stile: Form = {
  isStrict: true,
  recognizes: (record) =>
    ["emails", "username", "passkeys", "identities"].some((name) => Object.hasOwn(record, name)),
  convert: (record) => ({ ok: true, user: record as UserRecordInput, omitted: [] }),
};
