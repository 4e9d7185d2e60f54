import type { Databases } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { Tenant } from "../config/tenant.ts";
import type { UserObject } from "../objects/user-object.ts";
import { type AdminContext, commitChange } from "./change-user.ts";
import type { AdminVerdict } from "./rejections.ts";
import { listUsers, type UserFilter } from "./user-list.ts";

/** Users of one query of an export. */
const BATCH = 500;

export const exportFormats = ["jsonl", "csv"] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** The cells of a user in CSV, by the names of their columns. */
const columns: Record<string, (user: UserObject) => string | undefined> = {
  id: ({ id }) => id,
  email: (user) => primaryOf(user)?.address,
  email_verified: (user) => primaryOf(user)?.is_verified.toString(),
  other_emails: ({ emails }) =>
    emails
      ?.filter(({ is_primary }) => !is_primary)
      .map(({ address }) => address)
      .join(" "),
  username: ({ username }) => username?.username,
  phone_number: ({ phone_number }) => phone_number,
  name: ({ name }) => name,
  given_name: ({ given_name }) => given_name,
  family_name: ({ family_name }) => family_name,
  language: ({ language }) => language,
  created_at: ({ created_at }) => created_at,
  last_sign_in_at: ({ last_sign_in_at }) => last_sign_in_at,
  blocked_at: ({ blocked_at }) => blocked_at,
  providers: ({ identities }) => identities?.map(({ provider_name }) => provider_name).join(" "),
};

const primaryOf = ({ emails }: UserObject) => emails?.find(({ is_primary }) => is_primary);

/**
 * A cell of CSV (RFC 4180, 2). A program for tables computes a cell that begins so, and may send what it computes from: it
 * gets an apostrophe in front, which these programs do not show.
 */
function cell(value = ""): string {
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const lineOf: Record<ExportFormat, (user: UserObject) => string> = {
  jsonl: (user) => `${JSON.stringify(user)}\n`,
  csv: (user) =>
    `${Object.values(columns)
      .map((value) => cell(value(user)))
      .join(",")}\r\n`,
};

const headOf: Record<ExportFormat, string> = { jsonl: "", csv: `${Object.keys(columns).join(",")}\r\n` };

/** Records an export, which shows the data of many users at once. */
export function recordExport(context: AdminContext, format: ExportFormat): Promise<AdminVerdict> {
  return commitChange(context, async (tx) => {
    await audit(context, "users_exported", { by: "admin", format })(tx);
    return { ok: true };
  });
}

/**
 * Reads the users that match, the oldest first, as text. Each batch is a query of its own after the last user, so that a
 * slow reader holds neither a connection nor a transaction. No secret is among what operators are shown of users.
 *
 * @param before users who are created later are left out, so that the export ends
 */
export async function* exportListedUsers(
  at: { runtime: Databases; tenant: Tenant },
  filter: UserFilter,
  { format, before }: { format: ExportFormat; before: Date },
): AsyncGenerator<string, void> {
  let text = headOf[format];
  const { createdBefore } = filter;
  const bounded = {
    ...filter,
    createdBefore: createdBefore && createdBefore < before ? createdBefore : before,
  };
  const page = { limit: BATCH, order: "asc" as const };
  for (let after: string | null = ""; after !== null; text = "") {
    const listed: Awaited<ReturnType<typeof listUsers>> = await listUsers(at, bounded, { ...page, after });
    text += listed.users.map(lineOf[format]).join("");
    after = listed.next;
    if (text !== "") yield text;
  }
}
