import type { Databases } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type FoundSession, foundSession, type SessionRow, sessionRowText } from "../sessions/sessions.ts";
import { type AccountRow, accountRowText, tellsMetadata } from "./account-row.ts";

/**
 * Reads a code or token that an application presents, with everything that the library asks for next: its grant, its session, what
 * is stored of that for clients, and its account. One statement instead of five.
 */

/** A row of `openid_artifacts`, as it is found by an identifier. */
export interface ArtifactRow {
  payload: Buffer;
  consumed_at: Date | null;
  session_id: string | null;
  answer: string | null;
}

/** What is stored of a session for a client. */
export interface OfSession {
  id_hash: string;
  payload: Buffer;
}

/** What belongs to a code or token. */
export interface ReadWithToken {
  grant: { idHash: string; row: ArtifactRow } | null;
  session: { id: string; found: FoundSession | null; ofClients: OfSession[] } | null;
  /** `row` is null for an account that was deleted, or is blocked. */
  account: { accountId: string; row: AccountRow | null } | null;
}

/**
 * Reads a stored code or token.
 *
 * @param kind the name of its model
 * @returns null if there is none with this hash
 */
export async function readPresentedToken(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  kind: string,
  idHash: string,
): Promise<{ row: ArtifactRow; readWith: ReadWithToken } | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, kind, idHash, clockShift(), tellsMetadata(tenant.config)];
  const query = { name: "openid_find_presented", text: presentedText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  if (!found) return null;
  const { payload, consumed_at, session_id, answer } = found;
  return { row: { payload, consumed_at, session_id, answer }, readWith: readWithRow(tenant, found) };
}

/**
 * Reads what belongs to a token that is not stored, by the grant that it was issued by.
 *
 * @param sessionId the session that it ends with; null if it outlives sessions
 */
export async function readPresentedGrant(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  idHash: string,
  sessionId: string | null,
): Promise<ReadWithToken | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, "Grant", idHash, clockShift(), tellsMetadata(tenant.config), sessionId];
  const query = { name: "openid_find_presented_grant", text: presentedGrantText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  return found ? readWithRow(tenant, { ...found, session_id: sessionId }) : null;
}

function readWithRow(tenant: Tenant, found: PresentedRow): ReadWithToken {
  const { session_id } = found;
  const session = prefixed<SessionRow>(found, "session.");
  const ofGrant = prefixed<ArtifactRow>(found, "grant.");
  const account = prefixed<AccountRow>(found, "account.");
  return {
    grant: found.grant_hash && ofGrant.payload ? { idHash: found.grant_hash, row: ofGrant } : null,
    session: session_id
      ? {
          id: session_id,
          found: session.id ? foundSession(tenant, session) : null,
          ofClients: found.of_clients.map(({ id_hash, payload }) => ({
            id_hash,
            payload: Buffer.from(payload, "hex"),
          })),
        }
      : null,
    account: found.user_id ? { accountId: found.user_id, row: found.account_exists ? account : null } : null,
  };
}

interface PresentedRow extends ArtifactRow, Record<`${"session" | "grant" | "account"}.${string}`, unknown> {
  grant_hash: string | null;
  user_id: string | null;
  account_exists: boolean;
  of_clients: { id_hash: string; payload: string }[];
}

/** The columns of a row whose names begin with a prefix. */
function prefixed<Row>(row: object, prefix: string): Row {
  const columns = Object.entries(row).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(columns.map(([name, value]) => [name.slice(prefix.length), value])) as Row;
}

const columnsOfArtifact = ["payload", "consumed_at", "session_id", "answer"];

/**
 * The statement for a row `a` of `openid_artifacts`.
 *
 * @param grantHash SQL: the hash of its grant
 * @param sessionId SQL: its session
 */
const presentedTextOf = (grantHash: string, sessionId: string) => `
  select ${columnsOfArtifact.map((name) => `a.${name}`)}, ${grantHash} as grant_hash, a.user_id, u.id is not null as account_exists,
    ${columnsOfArtifact.map((name) => `g.${name} as "grant.${name}"`)},
    ${sessionRowText("$4", "session.")}, ${accountRowText("$5::boolean", "account.")},
    coalesce((
      select json_agg(json_build_object('id_hash', c.id_hash, 'payload', encode(c.payload, 'hex'))
        order by c.created_at, c.id_hash)
      from openid_artifacts c
      where c.tenant_id = $1 and c.kind = 'Session' and c.session_id = ${sessionId}), '[]') as of_clients
  from openid_artifacts a
  left join openid_artifacts g on g.tenant_id = $1 and g.kind = 'Grant' and g.id_hash = ${grantHash}
  left join sessions s on s.tenant_id = $1 and s.id = ${sessionId}
  left join users u on u.tenant_id = $1 and u.id = a.user_id and u.blocked_at is null
  left join emails e on e.tenant_id = $1 and e.user_id = u.id and e.is_primary
  left join usernames n on n.tenant_id = $1 and n.user_id = u.id
  left join phone_numbers p on p.tenant_id = $1 and p.user_id = u.id
  where a.tenant_id = $1 and a.kind = $2 and a.id_hash = $3`;

const presentedText = presentedTextOf("a.grant_hash", "a.session_id");
const presentedGrantText = presentedTextOf("a.id_hash", "$6::uuid");
