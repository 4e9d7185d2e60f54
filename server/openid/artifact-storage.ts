import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { LOCK_ORDER } from "#db/artifact-lock-order";
import type { Databases } from "#db/client";
import { clockText } from "#db/clock";
import { violatedForeignKey } from "#db/errors";
import { queryPrepared } from "#db/prepared";
import { openidArtifacts } from "#db/schema/openid";
import { sealContext } from "#db/schema/table";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { familyOwnersLocked, lockedFamilyOwners } from "./family-locks.ts";
import { identifierHash } from "./identifier-hash.ts";
import { readPresentedToken } from "./presented-token.ts";
import type { ArtifactRow } from "./read-ahead.ts";
import { type NewArtifact, writeRedemption } from "./redemption.ts";
import { type PresentedToken, presentVisitor } from "./visitor.ts";

/** What this module takes of the process. */
type Process = Databases & Sealing & OnPlatform;

/** Artifacts of these kinds may be used once; a second use ends everything of their grant (RFC 9700, 2.2.2 and 4.14.2). */
const usedOnce = new Set(["AuthorizationCode", "RefreshToken", "DeviceCode"]);

/** What a client gets for a code or refresh token. */
const givenTokens = new Set(["AccessToken", "RefreshToken"]);

/**
 * What a crash of PostgreSQL may lose: its client asks again, or has another. Its commits do not wait for the disk, which takes
 * as long as all else of a request.
 */
const losable = new Set(["AccessToken", "AuthorizationCode", "Interaction", "PushedAuthorizationRequest"]);

/** The models of the library, and the documents that clients are described by. The library names its models by its classes, whose names are others where a bundler has shortened them. */
const kinds = new Set([
  "AccessToken",
  "AuthorizationCode",
  "Client",
  "ClientCredentials",
  "DeviceCode",
  "Grant",
  "InitialAccessToken",
  "Interaction",
  "MetadataDocument",
  "PushedAuthorizationRequest",
  "RefreshToken",
  "RegistrationAccessToken",
  "ReplayDetection",
  "Session",
]);

/** Seals and reads the payloads of artifacts of one kind. */
export function artifactSeals({ runtime, tenant }: TenantContext<Sealing>, kind: string) {
  const { vault } = runtime;
  const contextOf = (idHash: string) =>
    sealContext(openidArtifacts, "payload", { tenantId: tenant.id, kind, idHash });
  return {
    seal: (payload: AdapterPayload, idHash: string): Buffer =>
      vault.seal(Buffer.from(JSON.stringify(payload)), contextOf(idHash)),
    read: (payload: Buffer, idHash: string) =>
      JSON.parse(vault.unseal(payload, contextOf(idHash)).toString()) as AdapterPayload,
  };
}

/**
 * Stores the artifacts of one kind for the library: codes, tokens, grants, authorization requests. A row is found by the hash
 * of the identifier, and its payload is sealed, so that a copy of the database gives no token.
 *
 * @param kind the name of the model
 * @throws Error if the library has no such model
 */
export function artifactStorage({ runtime, tenant }: TenantContext<Process>, kind: string): ArtifactStorage {
  if (!kinds.has(kind)) throw new Error(`The OpenID provider has no model ${kind}: was its code bundled?`);
  const { database, platform } = runtime;
  const seals = artifactSeals({ runtime, tenant }, kind);

  async function change(
    name: string,
    text: string,
    values: unknown[],
    pool = database.write,
  ): Promise<number> {
    const query = database.prepares ? { name, text, values } : { text, values };
    const { rowCount } = await pool.$client.query(query);
    return rowCount ?? 0;
  }

  function artifactOf(id: string, payload: AdapterPayload, expiresIn: number | undefined): NewArtifact {
    const idHash = identifierHash(id);
    const { jti: _, consumed: _consumed, ...kept } = payload;
    const { grantId, accountId, clientId, expiresWithSession, sessionUid } = payload;
    return {
      kind,
      idHash,
      payload: seals.seal(kept, idHash),
      grantHash: grantId === undefined ? null : identifierHash(grantId),
      userId: accountId ?? null,
      clientId: clientId ?? null,
      // A code is of no use once its session has ended, even one for tokens that outlive it.
      sessionId: expiresWithSession === true || kind === "AuthorizationCode" ? (sessionUid ?? null) : null,
      lifetimeSeconds: expiresIn ?? 0,
    };
  }

  /** Reads a row, and with a code or token what belongs to it. */
  async function read(idHash: string): Promise<ArtifactRow | undefined> {
    const visitor = presentVisitor();
    const grant = kind === "Grant" ? visitor.readAhead?.grants.get(idHash) : undefined;
    if (grant) return grant;
    if (kind === "AccessToken" || kind in presentedKinds) {
      const found = await readPresentedToken({ runtime, tenant }, kind, idHash);
      if (!found) return undefined;
      const { row, ahead } = found;
      // An unused one, so that the second use of a code ends what the first one gave.
      const isUnused = kind === "AuthorizationCode" && row.consumed_at === null;
      if (isUnused && row.session_id !== null && !ahead.session?.live) return undefined;
      visitor.readAhead = ahead;
      return row;
    }
    const query = { name: "openid_find", text: findText, values: [tenant.id, kind, idHash] };
    const [row] = await queryPrepared<ArtifactRow, "read">(database, "read", query);
    return row;
  }

  function found(id: string, row: ArtifactRow): AdapterPayload {
    const payload = seals.read(row.payload, identifierHash(id));
    if (usedOnce.has(kind)) notePresented(kind, payload);
    return {
      ...payload,
      jti: id,
      ...(row.consumed_at ? { consumed: Math.floor(row.consumed_at.getTime() / 1000) } : {}),
      // The session of a user who has authenticated again is another one.
      ...(row.session_id ? { sessionUid: row.session_id } : {}),
      ...(row.answer ? { answer: row.answer } : {}),
    };
  }

  return {
    async upsert(id, payload, expiresIn) {
      const made = artifactOf(id, payload, expiresIn);
      const { redemption } = presentVisitor();
      if (redemption && givenTokens.has(kind)) return void redemption.tokens.push(made);
      const { userCode } = payload;
      const row = [
        tenant.id,
        kind,
        made.idHash,
        made.payload,
        made.grantHash,
        made.userId,
        made.clientId,
        made.sessionId,
        made.lifetimeSeconds,
        platform.clockShift(),
        userCode === undefined ? null : identifierHash(userCode),
      ];
      const pool = losable.has(kind) ? database.claim : database.write;
      const written = change("openid_upsert", upsertText, row, pool);
      const rows = await written.catch((error: unknown) => {
        // The session or the account has ended meanwhile.
        if (violatedForeignKey(error)) throw new errors.InvalidGrant("its session has ended");
        throw error;
      });
      // The library has looked for it before another request stored it.
      if (rows === 0) throw new errors.InvalidRequest("a proof was used already");
    },

    async find(id) {
      const row = await read(identifierHash(id));
      return row && found(id, row);
    },
    found,

    // The service takes the codes of devices itself (`device-codes.ts`), and sessions are its own (`visitor-session.ts`).
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,

    async consume(id) {
      const redeemed = { kind, idHash: identifierHash(id), tokens: [] };
      const visitor = presentVisitor();
      if (visitor.redemption === null && usedOnce.has(kind)) {
        visitor.redemption = redeemed;
        return;
      }
      // The library has read it before another request used it.
      if (!(await writeRedemption({ runtime, tenant }, redeemed, true)))
        throw new errors.InvalidGrant("it was used already");
    },

    async destroy(id) {
      const rows = await change("openid_destroy", destroyText, [tenant.id, kind, identifierHash(id)]);
      // The browser has returned twice at once: one of them goes on.
      if (rows === 0 && kind === "Interaction")
        throw new errors.SessionNotFound("authorization request has expired");
    },

    async keepNewest(count) {
      await change("openid_keep_newest", keepNewestText, [tenant.id, kind, count]);
    },

    async revokeByGrantId(grantId) {
      await change("openid_revoke", revokeText, [tenant.id, kind, identifierHash(grantId)]);
    },
  };
}

const presentedKinds: Record<string, PresentedToken["kind"]> = {
  AuthorizationCode: "authorization_code",
  DeviceCode: "device_code",
  RefreshToken: "refresh_token",
};

/** Remembers what a call presents, until the library finds out whether it may. */
function notePresented(kind: string, { clientId, accountId }: AdapterPayload): void {
  const named = presentedKinds[kind];
  if (named && clientId && accountId)
    presentVisitor().presented = { kind: named, clientId, userId: accountId };
}

export interface ArtifactStorage extends Adapter {
  /** What the library takes of an artifact that was read. */
  found(id: string, row: ArtifactRow): AdapterPayload;
  /** Bounds the number of artifacts of this kind: deletes those that expire first. */
  keepNewest(count: number): Promise<void>;
}

const upsertText = `
  insert into openid_artifacts as artifact
    (tenant_id, kind, id_hash, payload, grant_hash, user_id, client_id, session_id, user_code_hash, created_at, expires_at)
  select $1, $2, $3, $4, $5, $6, $7, $8, $11, moment, moment + coalesce($9::int, 0) * interval '1 second'
  from (select ${clockText("$10")} as moment) clock
  on conflict (tenant_id, kind, id_hash) do update set
    payload = excluded.payload, grant_hash = excluded.grant_hash, user_id = excluded.user_id,
    client_id = excluded.client_id, session_id = excluded.session_id, expires_at = excluded.expires_at
  where artifact.kind <> 'ReplayDetection'`;

const findText = `
  select payload, consumed_at, session_id, answer from openid_artifacts
  where tenant_id = $1 and kind = $2 and id_hash = $3`;

const destroyText = "delete from openid_artifacts where tenant_id = $1 and kind = $2 and id_hash = $3";

const keepNewestText = `
  delete from openid_artifacts where tenant_id = $1 and kind = $2 and id_hash in (
    select id_hash from openid_artifacts where tenant_id = $1 and kind = $2
    order by expires_at desc, id_hash offset $3)`;

const revokeText = `
  with ${lockedFamilyOwners("$3")},
  family as materialized (
    select kind, id_hash from openid_artifacts
    where ${familyOwnersLocked} and tenant_id = $1 and kind = $2 and grant_hash = $3
    order by ${LOCK_ORDER} for update)
  delete from openid_artifacts artifact using family
  where artifact.tenant_id = $1 and artifact.kind = family.kind and artifact.id_hash = family.id_hash`;
