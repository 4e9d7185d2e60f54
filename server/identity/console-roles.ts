import { sql } from "drizzle-orm";
import { type ConsoleRole, consoleRoles } from "#db/schema/console-role";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { parseEmailAddress } from "./email/email-address.ts";

/** What an operator may do, by role: each may do what those before it may (`consoleRoles`). */
export { type ConsoleRole, consoleRoles };

/** Whether a role is the needed one, or a stronger one. */
export const mayAs = (role: ConsoleRole, needed: ConsoleRole): boolean =>
  consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed);

/** The stronger of two roles. */
export const stronger = (one: ConsoleRole, other: ConsoleRole): ConsoleRole =>
  mayAs(one, other) ? one : other;

/** What each role may do, in one sentence. */
export const roleMeanings: Record<ConsoleRole, string> = {
  auditor: "Reads everything of its tenant.",
  support: "Reads, ends sessions, unblocks users and sends recovery mails.",
  administrator: "Does everything in its tenant.",
  operator: "Does everything in every tenant.",
};

/** SQL of the role that an account was given. @param user name of its row of `users` */
function grantedText(user: string): string {
  return `(select g.role from console_grants g
    where g.tenant_id = ${user}.tenant_id and g.user_id = ${user}.id)`;
}

/** SQL of the verified addresses of an account. @param user name of its row of `users` */
function verifiedText(user: string): string {
  return `array(select e.address from emails e
    where e.tenant_id = ${user}.tenant_id and e.user_id = ${user}.id and e.verified_at is not null)`;
}

/**
 * What `roleOf` judges, as columns of a query that has the account in its table `users`: the granted role, and the verified
 * addresses.
 */
export const roleColumns = {
  granted: sql<ConsoleRole | null>`${sql.raw(grantedText("users"))}`.as("granted"),
  verified: sql<string[]>`${sql.raw(verifiedText("users"))}`.as("verified"),
};

/** What `roleOf` judges, as a query reads it. */
export interface RoleRow {
  granted: ConsoleRole | null;
  verified: readonly string[];
}

/**
 * The role of an account: the one that it was given, or a stronger one that the configuration gives to a verified address.
 *
 * @param row as `roleColumns` read it
 * @returns null without a role
 */
export function roleOf(
  { config, tenant: { id: defaultTenant } }: Configured & { tenant: Pick<Tenant, "id"> },
  tenantId: string,
  { granted, verified }: RoleRow,
): ConsoleRole | null {
  const { roles } = config.console;
  const configured =
    tenantId === defaultTenant ? verified.flatMap((address) => rolesByAddress(roles, address)) : [];
  const [first, ...others] = [...(granted === null ? [] : [granted]), ...configured];
  return first === undefined ? null : others.reduce(stronger, first);
}

/** The roles that the configuration gives to a canonical address. */
export const rolesByAddress = (roles: Record<string, ConsoleRole>, address: string): ConsoleRole[] =>
  Object.entries(roles).flatMap(([named, role]) => (canonicalAddress(named) === address ? [role] : []));

const MAX_ADDRESS_CHARACTERS = 254;

/** An address as accounts have it; any other text in lower case. */
export const canonicalAddress = (text: string) =>
  parseEmailAddress(text, MAX_ADDRESS_CHARACTERS) ?? text.toLowerCase();
