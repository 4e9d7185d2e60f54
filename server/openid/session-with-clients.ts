import { queryPrepared } from "#db/prepared";
import type { TenantContext } from "../context/context.ts";
import {
  type FoundSession,
  foundSession,
  type SessionReading,
  type SessionRow,
  sessionRowText,
} from "../sessions/sessions.ts";
import { type AccountRow, accountRowText, tellsMetadata } from "./account-row.ts";
import { type ArtifactRow, accountJoins, prefixed, type ReadAhead, storedForClient } from "./read-ahead.ts";

/** A session, and what belongs to it. */
export interface SessionWithClients {
  found: FoundSession;
  ahead: ReadAhead;
}

/**
 * Reads the session of a browser that comes to the provider.
 *
 * @returns null if there is none
 */
export async function readSessionWithClients(
  { runtime, tenant }: TenantContext<SessionReading>,
  sessionId: string,
): Promise<SessionWithClients | null> {
  const values = [tenant.id, sessionId, runtime.platform.clockShift(), tellsMetadata(tenant.config)];
  const query = { name: "openid_session_with_clients", text: sessionWithClientsText, values };
  const [row] = await queryPrepared<SessionWithClientsRow, "read">(runtime.database, "read", query);
  if (!row) return null;
  const found = await foundSession(runtime, tenant, prefixed<SessionRow>(row, "session."));
  const { session, live } = found;
  const grants = row.of_clients.flatMap(({ grant_hash, grant_payload }): [string, ArtifactRow][] => {
    if (grant_hash === null || grant_payload === null) return [];
    const payload = Buffer.from(grant_payload, "hex");
    return [[grant_hash, { payload, consumed_at: null, session_id: null, answer: null }]];
  });
  const account = row.account_exists ? prefixed<AccountRow>(row, "account.") : null;
  return {
    found,
    ahead: {
      grants: new Map(grants),
      session: {
        id: session.id,
        live: live ? session : null,
        ofClients: row.of_clients.map(storedForClient),
      },
      account: { accountId: session.userId, row: account },
    },
  };
}

interface SessionWithClientsRow extends Record<`${"session" | "account"}.${string}`, unknown> {
  account_exists: boolean;
  of_clients: (Record<"id_hash" | "payload", string> &
    Record<"grant_hash" | "grant_payload", string | null>)[];
}

// The grant of a client that a former version has stored is not named by the row: the library asks for it.
const sessionWithClientsText = `
  select ${sessionRowText("$3", "session.")}, ${accountRowText("$4::boolean", "account.")},
    u.id is not null as account_exists,
    coalesce((
      select json_agg(json_build_object('id_hash', c.id_hash, 'payload', encode(c.payload, 'hex'),
          'grant_hash', g.id_hash, 'grant_payload', encode(g.payload, 'hex'))
        order by c.created_at, c.id_hash)
      from openid_artifacts c
      left join openid_artifacts g on g.tenant_id = $1 and g.kind = 'Grant' and g.id_hash = c.grant_hash
      where c.tenant_id = $1 and c.kind = 'Session' and c.session_id = s.id), '[]') as of_clients
  from sessions s
  left join users u on u.tenant_id = $1 and u.id = s.user_id and u.blocked_at is null
  ${accountJoins("s.user_id")}
  where s.tenant_id = $1 and s.id = $2`;
