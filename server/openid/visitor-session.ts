import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import type { Databases } from "#db/client";
import { violatedForeignKey } from "#db/errors";
import type { TenantContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Session } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { artifactSeals, artifactStorage } from "./artifact-storage.ts";
import { contextClassOf } from "./authentication-context.ts";
import type { ReadSession } from "./read-ahead.ts";
import { readSessionWithClients } from "./session-with-clients.ts";
import { recordSignIn, sidOf, toldClients } from "./sign-ins.ts";
import { presentVisitor } from "./visitor.ts";

/** What this module takes of the process. */
type Process = Databases & Sealing & Signing & OnPlatform & Logs & WakesWebhooks;

/** What the library keeps of a session for each client: its grant, and the `sid` of its ID tokens. */
type Authorizations = AdapterPayload["authorizations"];

/**
 * Shows the session of the visitor to the library as its own: there is one session, that of the service, and signing out of it
 * is signing out of the provider. Of what the library stores with a session, what it keeps for each client is stored, in a row
 * for each, so that clients which are asked for at once do not write over one another.
 */
export function visitorSessionStorage(context: TenantContext<Process>): Adapter {
  const stored = artifactStorage(context, "Session");
  const seals = artifactSeals(context, "Session");

  /** What is stored of the clients, and the name by which those that are told of the end are to know the session. */
  function authorizationsOf({ id, ofClients }: ReadSession): NonNullable<Authorizations> {
    const found = ofClients.map(({ id_hash, payload }) => seals.read(payload, id_hash));
    const named = toldClients(context.tenant.config).map((client) => [client, { sid: sidOf(id, client) }]);
    return Object.assign(Object.fromEntries(named), ...found.map(({ authorizations }) => authorizations));
  }

  async function readSession(id: string): Promise<ReadSession | null> {
    const visitor = presentVisitor();
    if (visitor.readAhead?.session?.id !== id) {
      const read = await readSessionWithClients(context, id);
      if (!read) return null;
      visitor.readAhead = read.ahead;
    }
    return visitor.readAhead.session;
  }

  return {
    ...stored,
    /** Whatever the identifier, which the library renews: the session of the visitor. */
    async find() {
      const visitor = presentVisitor();
      const read = visitor.session && (await readSession(visitor.session.id));
      if (!visitor.session || !read) return undefined;
      const authorizations = authorizationsOf(read);
      visitor.kept = kept(authorizations);
      return shown(visitor.session, authorizations);
    },
    async findByUid(uid) {
      const read = await readSession(uid);
      return read?.live ? shown(read.live, authorizationsOf(read)) : undefined;
    },
    async upsert(_, { authorizations }, expiresIn) {
      const visitor = presentVisitor();
      if (!visitor.session || !authorizations) return;
      const { id: sessionUid, userId: accountId } = visitor.session;
      const told = new Set(toldClients(context.tenant.config));
      for (const [clientId, authorization] of Object.entries(authorizations)) {
        const { grantId, sid } = authorization ?? {};
        const isKnown = JSON.stringify(authorization) === visitor.kept?.get(clientId);
        // One that had another name for the session may have signed in before it was to be told.
        const mayBeRecorded = isKnown && sid === sidOf(sessionUid, clientId);
        // First: what is stored below is not stored again.
        if (told.has(clientId) && grantId && sid && !mayBeRecorded)
          await recordSignIn(context, { clientId, sid, sessionId: sessionUid, userId: accountId }).catch(
            endedMeanwhile,
          );
        if (isKnown) continue;
        // The grant is read with the session.
        const ofGrant = grantId === undefined ? {} : { grantId };
        const ofClient = { authorizations: { [clientId]: authorization }, clientId, ...ofGrant };
        const payload = { ...ofClient, accountId, sessionUid, expiresWithSession: true };
        await stored.upsert(`${sessionUid} ${clientId}`, payload, expiresIn);
      }
    },
    // The library renews its identifiers; a session ends by signing out.
    destroy: async () => {},
  };
}

function endedMeanwhile(error: unknown): never {
  if (violatedForeignKey(error)) throw new errors.InvalidGrant("its session has ended");
  throw error;
}

const kept = (authorizations: Authorizations) =>
  new Map(Object.entries(authorizations ?? {}).map(([client, value]) => [client, JSON.stringify(value)]));

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

function shown(session: Session, authorizations: Authorizations): AdapterPayload {
  return {
    kind: "Session",
    jti: session.id,
    uid: session.id,
    iat: seconds(session.createdAt),
    exp: seconds(session.expiresAt),
    accountId: session.userId,
    loginTs: seconds(session.authenticatedAt),
    amr: session.amr,
    acr: contextClassOf(session.factors),
    ...(authorizations ? { authorizations } : {}),
  };
}
