import { deleteAccount } from "../account/deletion.ts";
import { audit } from "../audit/audit.ts";
import { emit } from "../events/emit.ts";
import { parseEmailAddress } from "../identity/email/email-address.ts";
import { addEmail } from "../identity/email/emails.ts";
import { isUploadedBy } from "../identity/picture.ts";
import { createUser, updateUserProfile } from "../identity/users.ts";
import { securityNotice } from "../mail/security-notices.ts";
import { readUserObject, type UserObject } from "../objects/user-object.ts";
import { type AdminContext, changeUser, commitChange } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";
import { invalidAddress } from "./user-emails.ts";
import { readUsername, usernameTaken, writeUsername } from "./user-username.ts";

export interface NewUser {
  id?: string | undefined;
  emails: readonly { address: string; is_primary: boolean; is_verified: boolean }[];
  username?: string | undefined;
  created_at?: Date | undefined;
}

/** Creates a user with emails, of which one is the primary one, or a username, or both. */
export async function createAdminUser(
  context: AdminContext,
  newUser: NewUser,
): Promise<AdminVerdict<{ user: UserObject }>> {
  const { tenant, runtime, now } = context;
  const { config } = tenant;
  const { emails, created_at: createdAt = now } = newUser;
  if (emails.length === 0 && newUser.username === undefined)
    return rejectAdmin("invalid", "A user needs `emails` or `username`.");
  if (emails.length > config.email.limit)
    return rejectAdmin("invalid", `A user has at most ${config.email.limit} emails.`);
  if (emails.length > 0 && emails.filter(({ is_primary }) => is_primary).length !== 1)
    return rejectAdmin("invalid", "Exactly one of `emails` must have `is_primary`.");
  if (createdAt > now) return rejectAdmin("invalid", "`created_at` must not be in the future.");
  const parsed = emails.map((email) => ({
    ...email,
    address: parseEmailAddress(email.address, config.email.max_length) ?? "",
  }));
  if (parsed.some(({ address }) => address === "")) return invalidAddress(config);
  if (new Set(parsed.map(({ address }) => address)).size < parsed.length)
    return rejectAdmin("invalid", "`emails` must name each address once.");
  const name = newUser.username === undefined ? null : readUsername(config, newUser.username);
  if (name && !name.ok) return name;

  const id = newUser.id ?? runtime.platform.uuid();
  return commitChange(
    context,
    async (tx) => {
      await createUser(tx, tenant.id, {
        id,
        identifiers: name ? { username: name } : {},
        now: createdAt,
        platform: runtime.platform,
      });
      for (const { address, is_primary, is_verified } of parsed) {
        const email = { userId: id, address, isPrimary: is_primary, verifiedAt: is_verified ? now : null };
        await addEmail(tx, tenant.id, { ...email, id: runtime.platform.uuid(), now });
      }
      await audit(context, "user_created", { by: "admin" }, id)(tx);
      await emit(context, "user.create", id)(tx);
      const user = await readUserObject(tx, tenant, id);
      return user ? { ok: true, user } : notFound;
    },
    {
      users_tenant_id_id_pk: rejectAdmin("conflict", "A user of the tenant has this id."),
      emails_address_unique: rejectAdmin("conflict", "A user of the tenant has one of these emails."),
      usernames_username_unique: usernameTaken,
    },
  );
}

/** A change of the profile: null clears, what is absent stays. */
export type ProfileChange = {
  [Field in "username" | "name" | "given_name" | "family_name" | "picture" | "language"]?:
    | string
    | null
    | undefined;
};

/** Changes the profile fields of a user. */
export async function updateAdminUser(
  context: AdminContext,
  userId: string,
  { username: givenName, ...fields }: ProfileChange,
): Promise<AdminVerdict<{ user: UserObject }>> {
  const { tenant, now } = context;
  const name = typeof givenName === "string" ? readUsername(tenant.config, givenName) : null;
  if (name && !name.ok) return name;
  const changesProfile = Object.values(fields).some((value) => value !== undefined);
  return changeUser(
    context,
    userId,
    async (changed) => {
      const { tx, record } = changed;
      if (givenName !== undefined) await writeUsername(context, changed, name?.value ?? null);
      if (changesProfile) {
        await updateUserProfile(tx, tenant.id, {
          userId,
          now,
          name: fields.name,
          givenName: fields.given_name,
          familyName: fields.family_name,
          language: fields.language,
          // A client may send back the whole user.
          picture: (await isUploadedBy(tx, tenant, userId, fields.picture)) ? undefined : fields.picture,
        });
        await record("profile_changed");
        await emit(context, "user.update", userId)(tx);
      }
      return { ok: true, user: await changed.shown() };
    },
    { usernames_username_unique: usernameTaken },
  );
}

/** Deletes a user with everything that belongs to it. */
export function deleteAdminUser(context: AdminContext, userId: string): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    await deleteAccount(context, userId, null)(tx);
    await record("user_deleted");
    jobs.push(...securityNotice(owner, "account_delete", user.email));
    return { ok: true };
  });
}
