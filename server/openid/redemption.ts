import { errors } from "oidc-provider";
import { LOCK_ORDER } from "#db/artifact-lock-order";
import type { Databases } from "#db/client";
import { clockText } from "#db/clock";
import { violatedForeignKey } from "#db/errors";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { familyOwnersLocked, lockedFamilyOwners } from "./family-locks.ts";
import { MAX_GRANT_SECONDS } from "./grants.ts";

/**
 * A code or refresh token is redeemed by one statement at the end of the call: it is used up, and the tokens that are given for
 * it are stored, or neither. The library asks for each by itself, one after the other.
 */
export interface Redemption {
  kind: string;
  idHash: string;
  tokens: NewArtifact[];
}

/** An artifact to store. */
export interface NewArtifact {
  kind: string;
  idHash: string;
  payload: Buffer;
  grantHash: string | null;
  userId: string | null;
  clientId: string | null;
  /** The session that it ends with. */
  sessionId: string | null;
  lifetimeSeconds: number;
}

/**
 * Writes a redemption.
 *
 * @param isAnswered whether the call was answered with the tokens; of one that was refused nothing but the use is written
 * @returns false if the code or token was used meanwhile: everything of its grant has ended then
 * @throws InvalidGrant if it, its session or its account has ended meanwhile
 */
export async function writeRedemption(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  { kind, idHash, tokens }: Redemption,
  isAnswered: boolean,
): Promise<boolean> {
  const { database, platform } = runtime;
  const { $client } = database.write;
  const given = isAnswered ? tokens : [];
  const values = [
    tenant.id,
    kind,
    idHash,
    platform.clockShift(),
    ...(
      [
        "kind",
        "idHash",
        "payload",
        "grantHash",
        "userId",
        "clientId",
        "sessionId",
        "lifetimeSeconds",
      ] as const
    ).map((member) => given.map((token) => token[member])),
  ];
  const query = { ...(database.prepares ? { name: "openid_redeem" } : {}), text: redeemText, values };
  const { rows } = await $client.query<{ used: boolean }>(query).catch((error: unknown) => {
    if (violatedForeignKey(error)) throw new errors.InvalidGrant("its session has ended");
    throw error;
  });
  if (rows[0]?.used) return true;
  const named = database.prepares ? { name: "openid_end_family" } : {};
  const ended = { ...named, text: endFamilyText, values: [tenant.id, kind, idHash] };
  const { rows: found } = await $client.query<{ used: boolean }>(ended);
  if (!found[0]?.used) throw new errors.InvalidGrant("it has ended");
  return false;
}

/**
 * A used row is kept for a day, so that a second use is noticed: each refresh leaves one. The grant of a device was to end with
 * the code, and lasts from now on. Account and session are locked before the used row, as their ends do: in the other order one
 * of both would be the victim of a deadlock. Times are reckoned beside the updates, because Citus refuses an update that reckons
 * with columns and with what depends on the zone of time.
 */
const redeemText = `
  with clock as materialized (
    select now, now + interval '1 day' as kept_until from (select ${clockText("$4")} as now) moment),
  account as materialized (
    select 1 from users where tenant_id = $1 and id = any ($9::uuid[]) order by id for key share),
  session as materialized (
    select 1 from sessions where tenant_id = $1 and id = any ($11::uuid[]) and (select count(*) from account) >= 0
    order by id for key share),
  used as (
    update openid_artifacts a set consumed_at = clock.now,
      expires_at = least(a.expires_at, clock.kept_until)
    from clock, (select count(*) from session) locked
    where a.tenant_id = $1 and a.kind = $2 and a.id_hash = $3 and a.consumed_at is null
    returning a.kind, a.grant_hash),
  ending as (
    select g.id_hash, g.created_at + interval '${MAX_GRANT_SECONDS} seconds' as ends_at
    from openid_artifacts g, used
    where g.tenant_id = $1 and g.kind = 'Grant' and g.id_hash = used.grant_hash
      and used.kind = 'DeviceCode' and cardinality($5::text[]) > 0),
  lasting as (
    update openid_artifacts granted set expires_at = ending.ends_at
    from ending
    where granted.tenant_id = $1 and granted.kind = 'Grant' and granted.id_hash = ending.id_hash),
  stored as (
    insert into openid_artifacts
      (tenant_id, kind, id_hash, payload, grant_hash, user_id, client_id, session_id, created_at, expires_at)
    select $1, token.kind, token.id_hash, token.payload, token.grant_hash, token.user_id, token.client_id,
      token.session_id, clock.now, clock.now + token.lifetime * interval '1 second'
    from unnest($5::text[], $6::text[], $7::bytea[], $8::text[], $9::uuid[], $10::text[], $11::uuid[], $12::int[])
      as token (kind, id_hash, payload, grant_hash, user_id, client_id, session_id, lifetime), clock
    where exists (select 1 from used))
  select exists (select 1 from used) as used`;

/** Ends the grant of an artifact that was used, and what was issued by it. */
const endFamilyText = `
  with used as materialized (
    select grant_hash from openid_artifacts where tenant_id = $1 and kind = $2 and id_hash = $3),
  ${lockedFamilyOwners("(select grant_hash from used)")},
  family as materialized (
    select artifact.kind, artifact.id_hash from openid_artifacts artifact
    where ${familyOwnersLocked} and artifact.tenant_id = $1 and artifact.kind <> 'Session' and (
      artifact.grant_hash = (select grant_hash from used)
      or (artifact.kind = 'Grant' and artifact.id_hash = (select grant_hash from used)))
    order by ${LOCK_ORDER} for update),
  ended as (
    delete from openid_artifacts artifact using family
    where artifact.tenant_id = $1 and artifact.kind = family.kind and artifact.id_hash = family.id_hash)
  select exists (select 1 from used) as used`;
