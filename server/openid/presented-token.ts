import { queryPrepared } from "#db/prepared";
import type { TenantContext } from "../context/context.ts";
import { foundSession, type SessionReading, type SessionRow, sessionRowText } from "../sessions/sessions.ts";
import { type AccountRow, accountRowText, tellsMetadata } from "./account-row.ts";
import { type ArtifactRow, accountJoins, prefixed, type ReadAhead, storedForClient } from "./read-ahead.ts";

/** What this module takes of the process. */
type Process = SessionReading;

/**
 * Reads a stored code or token.
 *
 * @param kind the name of its model
 * @returns null if there is none with this hash
 */
export async function readPresentedToken(
  { runtime, tenant }: TenantContext<Process>,
  kind: string,
  idHash: string,
): Promise<{ row: ArtifactRow; ahead: ReadAhead } | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, kind, idHash, clockShift(), tellsMetadata(tenant.config)];
  const query = { name: "openid_find_presented", text: presentedText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  if (!found) return null;
  const { payload, consumed_at, session_id, answer } = found;
  return {
    row: { payload, consumed_at, session_id, answer },
    ahead: await readWithRow({ runtime, tenant }, found),
  };
}

/**
 * Reads what belongs to a token that is not stored, by the grant that it was issued by.
 *
 * @param sessionId the session that it ends with; null if it outlives sessions
 */
export async function readPresentedGrant(
  { runtime, tenant }: TenantContext<Process>,
  idHash: string,
  sessionId: string | null,
): Promise<ReadAhead | null> {
  const { clockShift } = runtime.platform;
  const values = [tenant.id, "Grant", idHash, clockShift(), tellsMetadata(tenant.config), sessionId];
  const query = { name: "openid_find_presented_grant", text: presentedGrantText, values };
  const [found] = await queryPrepared<PresentedRow, "read">(runtime.database, "read", query);
  return found ? readWithRow({ runtime, tenant }, { ...found, session_id: sessionId }) : null;
}

async function readWithRow(
  { runtime, tenant }: TenantContext<Process>,
  found: PresentedRow,
): Promise<ReadAhead> {
  const { session_id } = found;
  const session = prefixed<SessionRow>(found, "session.");
  const read = session.id ? await foundSession(runtime, tenant, session) : null;
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
  ${accountJoins("u.id")}
  where a.tenant_id = $1 and a.kind = $2 and a.id_hash = $3`;

const presentedText = presentedTextOf("a.grant_hash", "a.session_id");
const presentedGrantText = presentedTextOf("a.id_hash", "$6::uuid");
