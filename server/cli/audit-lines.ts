import type { AuditEntryJson } from "../audit/audit-entry.ts";
import { describeUserAgent, UNKNOWN_USER_AGENT } from "../lib/user-agent.ts";

export const auditHeads = ["time", "type", "about", "details", "address", "browser"] as const;

/** Characters of the details of an entry in a table; `--json` shows all. */
const MAX_DETAILS_LENGTH = 160;

/** Members of the details that have a column of their own, or are for searching alone. */
const shownElsewhere = ["identifier", "identifier_digest", "recipient", "email", "by"];

/** Returns an entry of the audit log as the cells of a row. */
export function auditCells(entry: AuditEntryJson): string[] {
  const { details, error } = entry;
  // The reason stands before an error, whose sentence may be longer than what is shown.
  const first = error === undefined ? {} : { reason: details.reason, error };
  const facts = Object.entries({ ...first, ...details })
    .filter(([name, value]) => !shownElsewhere.includes(name) && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  return [
    entry.created_at,
    entry.type,
    aboutOf(entry),
    facts.length > MAX_DETAILS_LENGTH ? `${facts.slice(0, MAX_DETAILS_LENGTH - 1)}…` : facts,
    entry.meta_source_ip || "-",
    browserOf(entry),
  ];
}

/** The account by its address, if it has one, or the identifier that no account has. */
function aboutOf({ actor_email, actor_user_id, details }: AuditEntryJson): string {
  const { identifier, recipient } = details;
  for (const name of [actor_email, recipient, identifier, actor_user_id])
    if (typeof name === "string" && name !== "") return name;
  return "-";
}

function browserOf({ meta_user_agent: agent }: AuditEntryJson): string {
  if (agent === "") return "-";
  const described = describeUserAgent(agent);
  return described === UNKNOWN_USER_AGENT ? agent.slice(0, 30) : described;
}
