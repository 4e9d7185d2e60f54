import type { Session } from "../objects/session.ts";
import type { AccountRow } from "./account-row.ts";

/**
 * What is read together with a code, token or session that is presented, because the library asks for it next: the grant, the session,
 * what is stored of that for clients, and the account. One statement in place of up to five.
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

/** What is stored for a client as statements give it. */
export const storedForClient = ({ id_hash, payload }: Record<"id_hash" | "payload", string>): OfSession => ({
  id_hash,
  payload: Buffer.from(payload, "hex"),
});

/**
 * The joins of what `accountRowText` reads beside a row of `users`.
 *
 * @param userId SQL: the id of the account
 */
export const accountJoins = (userId: string): string => `
  left join emails e on e.tenant_id = $1 and e.user_id = ${userId} and e.is_primary
  left join usernames n on n.tenant_id = $1 and n.user_id = ${userId}
  left join phone_numbers p on p.tenant_id = $1 and p.user_id = ${userId}`;

/** The columns of a prefix, which are the same in all statements: their names in the row, and without it. */
const columnsWith = new Map<string, (readonly [name: string, own: string])[]>();

/** The columns of a row whose names begin with a prefix, without it. */
export function prefixed<Row>(row: object, prefix: string): Row {
  const columns =
    columnsWith.get(prefix) ??
    Object.keys(row).flatMap((name) =>
      name.startsWith(prefix) ? [[name, name.slice(prefix.length)] as const] : [],
    );
  columnsWith.set(prefix, columns);
  const values = row as Record<string, unknown>;
  return Object.fromEntries(columns.map(([name, own]) => [own, values[name]])) as Row;
}
