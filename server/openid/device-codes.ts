import { and, eq, gt, isNull } from "drizzle-orm";
import type { AdapterPayload } from "oidc-provider";
import { type Databases, schema, type Transaction } from "#db/client";
import { clockText } from "#db/clock";
import { ConflictError } from "#db/errors";
import { queryPrepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { RequestContext, TenantContext } from "../context/context.ts";
import { lockUser } from "../identity/lock-user.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Session } from "../objects/session.ts";
import { requireSession } from "../sessions/sessions.ts";
import { artifactSeals } from "./artifact-storage.ts";
import { askedPermissions } from "./asked-permissions.ts";
import { contextClassOf } from "./authentication-context.ts";
import { type Answer, findConsent, keepConsent } from "./consents.ts";
import { findApplication } from "./find-application.ts";
import { isOwn, MAX_GRANT_SECONDS } from "./grants.ts";
import { identifierHash } from "./identifier-hash.ts";
import { shownUserCode, userCodeIn } from "./user-code.ts";
import type { WaitingAuthorization } from "./waiting-authorization.ts";

/**
 * Devices without a browser (RFC 8628). The library gives a device its codes and, once its user has answered, its tokens. The
 * user's side is here: the page and the question are a flow of the service, so that the answer is one write with all else.
 */

type Process = Databases & Sealing & OnPlatform;

const { openidArtifacts } = schema;

const KIND = "DeviceCode";

/** A device that waits for its user, and where it has asked from. */
export interface WaitingDevice {
  authorization: WaitingAuthorization;
  /** As the device shows it. */
  code: string;
  ip: string | null;
  userAgent: string | null;
}

/**
 * Finds the device that shows a code.
 *
 * @param text as the user has entered it
 * @returns null if none does: the code is wrong, has expired, or is answered; or its client is not configured any more
 */
export async function findWaitingDevice(
  context: TenantContext<Process>,
  text: string,
  userId: string,
): Promise<WaitingDevice | null> {
  const { config } = context.tenant;
  const { enabled, device_flow } = config.openid;
  const code = enabled && device_flow ? userCodeIn(text) : null;
  const found = code === null ? null : await findDevice(context, code);
  if (code === null || !found) return null;
  const { params = {}, deviceInfo = {} } = found.payload;
  const clientId = String(params.client_id);
  const [application, consent] = await Promise.all([
    findApplication(context, clientId),
    findConsent(context, userId, clientId),
  ]);
  if (!application) return null;
  const { ip, ua } = deviceInfo as { ip?: string; ua?: string };
  return {
    authorization: {
      request: code,
      clientId,
      host: "",
      asked: askedPermissions(config, params),
      ...(consent ? { allowed: consent.allowed } : {}),
    },
    code: shownUserCode(code),
    ip: ip || null,
    userAgent: ua || null,
  };
}

async function findDevice(context: TenantContext<Process>, code: string): Promise<FoundDevice | null> {
  const { runtime, tenant } = context;
  const [row] = await queryPrepared<DeviceRow, "read">(runtime.database, "read", {
    name: "openid_find_device",
    text: findText,
    values: [tenant.id, identifierHash(code), runtime.platform.clockShift()],
  });
  if (!row) return null;
  const payload = artifactSeals(context, KIND).read(row.payload, row.id_hash);
  return { idHash: row.id_hash, payload, expiresAt: row.expires_at };
}

interface DeviceRow {
  id_hash: string;
  payload: Buffer;
  expires_at: Date;
}

interface FoundDevice {
  idHash: string;
  payload: AdapterPayload;
  expiresAt: Date;
}

const findText = `
  select id_hash, payload, expires_at from openid_artifacts
  where tenant_id = $1 and kind = '${KIND}' and user_code_hash = $2
    and answer is null and consumed_at is null and expires_at > ${clockText("$3")}`;

/**
 * Prepares a user's answer to a device.
 *
 * @param session of the user
 * @returns the write of the answer; it throws ConflictError("authorization") if the device is answered or its code expired.
 *   Null if no device waits
 */
export async function answerDevice(
  context: RequestContext<Process>,
  session: Session,
  authorization: WaitingAuthorization,
  answer: Answer,
): Promise<Write | null> {
  const { tenant, now } = context;
  const { userId } = session;
  const found = await findDevice(context, authorization.request);
  if (found?.payload.params?.client_id !== authorization.clientId) return null;
  const { idHash, payload, expiresAt } = found;
  const seals = artifactSeals(context, KIND);
  const take = async (tx: Transaction, answered: AdapterPayload, grantHash: string | null): Promise<void> => {
    const taken = await tx
      .update(openidArtifacts)
      .set({ payload: seals.seal(answered, idHash), answer, userId, grantHash })
      .where(
        and(
          eq(openidArtifacts.tenantId, tenant.id),
          eq(openidArtifacts.kind, KIND),
          eq(openidArtifacts.idHash, idHash),
          isNull(openidArtifacts.answer),
          isNull(openidArtifacts.consumedAt),
          gt(openidArtifacts.expiresAt, now),
        ),
      )
      .returning({ idHash: openidArtifacts.idHash });
    if (taken.length === 0) throw new ConflictError("authorization");
  };
  if (answer === "denied") {
    const error = { error: "access_denied", errorDescription: "the user has denied the request" };
    return (tx) => take(tx, { ...payload, ...error }, null);
  }

  const grantId = randomToken(context.runtime.platform);
  const grant = grantOf(context, userId, authorization);
  const grantHash = identifierHash(grantId);
  const { asked } = authorization;
  const indicators = Object.keys(asked.resources);
  const answered: AdapterPayload = {
    ...payload,
    accountId: userId,
    grantId,
    acr: contextClassOf(session.factors),
    amr: session.amr,
    authTime: Math.floor(session.authenticatedAt.getTime() / 1000),
    scope: [...new Set([...asked.scopes, ...Object.values(asked.resources).flat()])].join(" "),
    ...(indicators.length > 0 ? { resource: indicators.length === 1 ? indicators[0] : indicators } : {}),
  };
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    // What it is given outlives the session, and would outlive the end of all sessions.
    await requireSession(tx, tenant.id, session.id);
    await take(tx, answered, grantHash);
    await tx.insert(openidArtifacts).values({
      tenantId: tenant.id,
      kind: "Grant",
      idHash: grantHash,
      payload: artifactSeals(context, "Grant").seal(grant, grantHash),
      userId,
      clientId: authorization.clientId,
      createdAt: now,
      // A device that does not fetch its tokens leaves nothing.
      expiresAt,
    });
    if (!isOwn(context, authorization.clientId)) await keepConsent(tx, tenant.id, userId, authorization, now);
  };
}

/** What the library would store of the grant. A device has one of its own, which outlives the session of the browser. */
function grantOf(
  { now }: Pick<RequestContext<unknown>, "now">,
  accountId: string,
  { clientId, asked }: WaitingAuthorization,
): AdapterPayload {
  const iat = Math.floor(now.getTime() / 1000);
  const resources = Object.entries(asked.resources).filter(([, scopes]) => scopes.length > 0);
  return {
    kind: "Grant",
    iat,
    exp: iat + MAX_GRANT_SECONDS,
    accountId,
    clientId,
    openid: {
      ...(asked.scopes.length > 0 ? { scope: asked.scopes.join(" ") } : {}),
    },
    ...(resources.length > 0
      ? { resources: Object.fromEntries(resources.map(([api, scopes]) => [api, scopes.join(" ")])) }
      : {}),
  };
}
