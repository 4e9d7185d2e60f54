import { errors } from "oidc-provider";
import type { Databases } from "#db/client";
import { clockText } from "#db/clock";
import { violatedForeignKey } from "#db/errors";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";

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
 * @throws InvalidGrant if the session or the account has ended meanwhile
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
  const ofFamily = { name: "openid_end_family", text: endFamilyText, values: [tenant.id, kind, idHash] };
  await $client.query(database.prepares ? ofFamily : { text: ofFamily.text, values: ofFamily.values });
  return false;
}

/** What was used is kept for a day, so that a second use is noticed: each refresh leaves a row. */
const redeemText = `
  with clock as materialized (select ${clockText("$4")} as now),
  used as (
    update openid_artifacts a set consumed_at = clock.now,
      expires_at = least(a.expires_at, clock.now + interval '1 day')
    from clock
    where a.tenant_id = $1 and a.kind = $2 and a.id_hash = $3 and a.consumed_at is null
    returning a.id_hash),
  stored as (
    insert into openid_artifacts
      (tenant_id, kind, id_hash, payload, grant_hash, user_id, client_id, session_id, created_at, expires_at)
    select $1, token.kind, token.id_hash, token.payload, token.grant_hash, token.user_id, token.client_id,
      token.session_id, clock.now, clock.now + token.lifetime * interval '1 second'
    from unnest($5::text[], $6::text[], $7::bytea[], $8::text[], $9::uuid[], $10::text[], $11::uuid[], $12::int[])
      as token (kind, id_hash, payload, grant_hash, user_id, client_id, session_id, lifetime), clock
    where exists (select from used))
  select exists (select from used) as used`;

/** Ends the grant of an artifact, and what was issued by it. */
const endFamilyText = `
  with family as (
    select grant_hash from openid_artifacts
    where tenant_id = $1 and kind = $2 and id_hash = $3 and grant_hash is not null)
  delete from openid_artifacts artifact using family
  where artifact.tenant_id = $1
    and (artifact.grant_hash = family.grant_hash or (artifact.kind = 'Grant' and artifact.id_hash = family.grant_hash))`;
