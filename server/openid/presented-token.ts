import type { Databases } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Session } from "../objects/session.ts";
import { foundSession, type SessionRow, sessionRowText } from "../sessions/sessions.ts";
import { type AccountRow, accountRowText, tellsMetadata } from "./account-row.ts";

/**
 * Reads what an application or a browser presents, a code, a token or a session, with everything that the library asks for next:
 * the grant, the session, what is stored of that for clients, and the account. One statement instead of up to five.
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

/** A session with what is stored of it for clients. */
export interface ReadSession {
  id: string;
  /** Null where it has ended. */
  live: Session | null;
  ofClients: OfSession[];
}

/** What belongs to a code, token or session. */
export interface ReadAhead {
  /** By the hashes of their identifiers. */
  grants: ReadonlyMap<string, ArtifactRow>;
  session: ReadSession | null;
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
): Promise<{ row: ArtifactRow; ahead: ReadAhead } | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, kind, idHash, clockShift(), tellsMetadata(tenant.config)];
  const query = { name: "openid_find_presented", text: presentedText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  if (!found) return null;
  const { payload, consumed_at, session_id, answer } = found;
  return { row: { payload, consumed_at, session_id, answer }, ahead: readWithRow(tenant, found) };
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
): Promise<ReadAhead | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, "Grant", idHash, clockShift(), tellsMetadata(tenant.config), sessionId];
  const query = { name: "openid_find_presented_grant", text: presentedGrantText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  return found ? readWithRow(tenant, { ...found, session_id: sessionId }) : null;
}

function readWithRow(tenant: Tenant, found: PresentedRow): ReadAhead {
  const { session_id } = found;
  const session = prefixed<SessionRow>(found, "session.");
  const read = session.id ? foundSession(tenant, session) : null;
  const ofGrant = prefixed<ArtifactRow>(found, "grant.");
  const account = prefixed<AccountRow>(found, "account.");
  return {
    grants: new Map(found.grant_hash && ofGrant.payload ? [[found.grant_hash, ofGrant]] : []),
    session: session_id
      ? {
          id: session_id,
          live: read?.live ? read.session : null,
          ofClients: found.of_clients.map(storedForClient),
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

/**
 * Reads what belongs to the session of a browser.
 *
 * @param session as it was found just now
 */
export async function readOfSession(
  { runtime, tenant }: TenantContext<Databases>,
  session: Session,
): Promise<ReadAhead & { session: ReadSession }> {
  const values = [tenant.id, session.userId, session.id, tellsMetadata(tenant.config)];
  const query = { name: "openid_of_session", text: ofSessionText, values };
  const [found] = await queryPrepared<OfSessionRow, "read">(runtime.database, "read", query);
  const { account_exists = false, of_clients = [], ...account } = found ?? {};
  const grants = of_clients.flatMap(({ grant_hash, grant_payload }): [string, ArtifactRow][] => {
    if (grant_hash === null || grant_payload === null) return [];
    const payload = Buffer.from(grant_payload, "hex");
    return [[grant_hash, { payload, consumed_at: null, session_id: null, answer: null }]];
  });
  return {
    grants: new Map(grants),
    session: { id: session.id, live: session, ofClients: of_clients.map(storedForClient) },
    account: { accountId: session.userId, row: account_exists ? (account as AccountRow) : null },
  };
}

interface OfSessionRow extends AccountRow {
  account_exists: boolean;
  of_clients: (Record<"id_hash" | "payload", string> &
    Record<"grant_hash" | "grant_payload", string | null>)[];
}

const storedForClient = ({ id_hash, payload }: Record<"id_hash" | "payload", string>): OfSession => ({
  id_hash,
  payload: Buffer.from(payload, "hex"),
});

/** The columns of a row whose names begin with a prefix. */
function prefixed<Row>(row: object, prefix: string): Row {
  const columns = Object.entries(row).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(columns.map(([name, value]) => [name.slice(prefix.length), value])) as Row;
}

/** What `accountRowText` reads of a row `u` of `users`. */
const accountJoins = `
  left join emails e on e.tenant_id = $1 and e.user_id = u.id and e.is_primary
  left join usernames n on n.tenant_id = $1 and n.user_id = u.id
  left join phone_numbers p on p.tenant_id = $1 and p.user_id = u.id`;

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
  ${accountJoins}
  where a.tenant_id = $1 and a.kind = $2 and a.id_hash = $3`;

const presentedText = presentedTextOf("a.grant_hash", "a.session_id");
const presentedGrantText = presentedTextOf("a.id_hash", "$6::uuid");

// The grant of a client that has been stored by a former version is not named by the row: the library asks for it.
const ofSessionText = `
  select ${accountRowText("$4::boolean")}, u.id is not null as account_exists,
    coalesce((
      select json_agg(json_build_object('id_hash', c.id_hash, 'payload', encode(c.payload, 'hex'),
          'grant_hash', g.id_hash, 'grant_payload', encode(g.payload, 'hex'))
        order by c.created_at, c.id_hash)
      from openid_artifacts c
      left join openid_artifacts g on g.tenant_id = $1 and g.kind = 'Grant' and g.id_hash = c.grant_hash
      where c.tenant_id = $1 and c.kind = 'Session' and c.session_id = $3), '[]') as of_clients
  from (values (1)) one
  left join users u on u.tenant_id = $1 and u.id = $2 and u.blocked_at is null
  ${accountJoins}`;
