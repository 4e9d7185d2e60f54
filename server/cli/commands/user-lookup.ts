import { listUsers, MAX_SEARCH_RESULTS } from "../../admin/user-list.ts";
import { listUserSessions } from "../../admin/user-sessions.ts";
import { type AuditEntryJson, auditEntryJson } from "../../audit/audit-entry.ts";
import { listAuditEntries } from "../../audit/audit-log.ts";
import type { AuditType } from "../../audit/audit-types.ts";
import { entriesAbout } from "../../audit/named-user.ts";
import { factsById, type UserFacts } from "../../identity/facts.ts";
import { type RemovableMethod, type SecondFactorMethod, secondFactors } from "../../methods/index.ts";
import { isSetUp } from "../../methods/second-factors.ts";
import { readUserObject, type UserObject } from "../../objects/user-object.ts";
import { columns } from "../arguments.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { auditCells } from "../audit-lines.ts";
import { command, missing } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { jsonOption, limitOption, pageOf, pageOption, tenantOption } from "../options.ts";
import { printTable, table } from "../table.ts";

export const usersSearch = command({
  name: "users search",
  summary: "Search users by a part of an email address or username, newest first.",
  takes: ["text"],
  options: { tenant: tenantOption, limit: limitOption, page: pageOption, json: jsonOption },
  async run(cli, values, [text = ""]) {
    const { size, number } = pageOf(values);
    const page = { offset: (number - 1) * size, limit: size, order: "desc" as const };
    const { users, total } = await atTenant(cli, values.tenant, (at) =>
      listUsers(at, { emailOrUsername: text }, page),
    );
    if (values.json) return cli.print(JSON.stringify({ total, users }));
    await printTable(cli, users, {
      id: "id",
      created: "created_at",
      email: (user) => primaryEmailOf(user) ?? "-",
      username: ({ username }) => username?.username ?? "-",
      state: ({ blocked_at }) => (blocked_at ? "blocked" : "-"),
    });
    const counted = total === MAX_SEARCH_RESULTS ? `${total} or more` : String(total);
    if (total > users.length) await cli.print(`page ${number}: ${users.length} of ${counted}`);
  },
});

function primaryEmailOf({ emails = [] }: UserObject): string | null {
  return emails.find(({ is_primary }) => is_primary)?.address ?? null;
}

/** What explains why a user cannot sign in or gets no mail and no SMS. */
const explaining: AuditType[] = [
  "login_success",
  "login_failure",
  "thirdparty_signin_signup_failed",
  "otp_creation_failed",
  "mail_queued",
  "mail_withheld",
  "mail_accepted",
  "mail_failed",
  "sms_queued",
  "sms_withheld",
  "sms_accepted",
  "sms_failed",
  "user_blocked",
  "user_unblocked",
];

/** Entries of the audit log that are shown with a user. */
const RECENT_ENTRIES = 10;

export const usersShow = command({
  name: "users show",
  summary: "Show a user: how it can sign in, whether it is blocked, and its last sign-ins and mails.",
  details: `${NAMED_BY}\nstile audit list --user shows all entries of the audit log.`,
  takes: ["user"],
  options: { tenant: tenantOption, json: { description: "As JSON, with the whole user." } },
  async run(cli, values, [name = ""]) {
    await atTenant(cli, values.tenant, async (at) => {
      const found = await lookUp(at, await findUser(at, name), name);
      if (!found) throw missing("user", name);
      const { user, facts, sessions, recent } = found;
      if (values.json) return cli.print(JSON.stringify({ user, sessions, recent }));
      const shown: [string, string][] = [
        ["id", user.id],
        ["emails", (user.emails ?? []).map(describeEmail).join(", ") || "none"],
        ["username", user.username?.username ?? "none"],
        ["created", user.created_at],
        ["blocked", user.blocked_at ? `since ${user.blocked_at}` : "no"],
        ["signs in with", methodsOf(user).join(", ") || "mailed codes alone"],
        ["second factors", secondFactorsOf(user, facts).join(", ") || "none"],
        ["sessions", String(sessions)],
      ];
      for (const line of columns(shown)) await cli.print(escapeControls(line));
      await cli.print("");
      const heads = ["last sign-ins and mails", "", "", "", "", ""];
      for (const line of table(heads, recent.map(auditCells))) await cli.print(line);
    });
  },
});

interface FoundUser {
  user: UserObject;
  facts: UserFacts;
  /** Number of live sessions. */
  sessions: number;
  /** Newest first. */
  recent: AuditEntryJson[];
}

async function lookUp(at: AtTenant, userId: string, name: string): Promise<FoundUser | null> {
  const { runtime, tenant } = at;
  const { read } = runtime.database;
  const user = await readUserObject(read, tenant, userId);
  const facts = await factsById(read, tenant.id, userId);
  const listed = await listUserSessions(at, userId);
  if (!user || !facts || !listed.ok) return null;
  const { digests } = await entriesAbout(runtime, tenant, primaryEmailOf(user) ?? name);
  const about = { userId, digests };
  const page = { number: 1, size: RECENT_ENTRIES };
  const { rows } = await listAuditEntries(read, tenant, { about, types: explaining }, page);
  const recent = rows.map((row) => auditEntryJson(row, tenant.config));
  return { user, facts, sessions: listed.sessions.length, recent };
}

function describeEmail({ address, is_primary, is_verified }: NonNullable<UserObject["emails"]>[number]) {
  const marks = [...(is_primary ? ["primary"] : []), is_verified ? "verified" : "not verified"];
  return `${address} (${marks.join(", ")})`;
}

function methodsOf({ password, webauthn_credentials = [], identities = [] }: UserObject): string[] {
  const passkeys = webauthn_credentials.filter(({ mfa_only }) => !mfa_only).length;
  return [
    ...(password ? ["password"] : []),
    ...(passkeys > 0 ? [counted(passkeys, "passkey")] : []),
    ...identities.map(({ provider_name }) => provider_name),
  ];
}

function secondFactorsOf({ webauthn_credentials = [] }: UserObject, facts: UserFacts): string[] {
  const keys = webauthn_credentials.filter(({ mfa_only }) => mfa_only).length;
  const texts: Record<Exclude<SecondFactorMethod["name"], RemovableMethod["name"]>, string> = {
    security_key: counted(keys, "security key"),
    authenticator: "authenticator",
    sms: "codes by SMS",
  };
  const own = secondFactors.filter((method) => isSetUp(method, facts));
  return [
    ...own.map((method) => (method.removal ? method.removal.noun : texts[method.name])),
    ...(facts.hasRecoveryCode ? ["recovery codes"] : []),
  ];
}

const counted = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
