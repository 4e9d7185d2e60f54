import type { Transaction } from "#db/client";
import { executePart } from "#db/part";
import { type Write, writeOf } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { ClientContext } from "../context/context.ts";
import { requestErrors } from "../failures/authenticator-requests.ts";
import { commitWrite } from "../jobs/commit-with-jobs.ts";
import { randomToken } from "../lib/random-token.ts";
import { type Location, locate } from "../locations/location.ts";
import { applicationOf } from "./application.ts";
import { type Device, deleteDevice, devicesOf, pushTokensOf, sortInLockOrder } from "./devices.ts";
import type { Process } from "./process.ts";
import type { AuthenticatorJob, PushJob } from "./push-job.ts";
import { deviceUrl } from "./request-addresses.ts";
import type { RequestInput } from "./request-input.ts";
import { newDeviceToken, newRequestId } from "./request-tokens.ts";
import { insertRequest, supersedeOlder } from "./request-writes.ts";
import { type AuthenticatorRequest, type RequestRow, requestFromRow } from "./requests.ts";
import { accountNamedBy, deleteUnusedRecoveryCodes, revokeTrustedDevices } from "./second-factor.ts";
import { authenticatorNotice } from "./security-notice.ts";
import type { AuthenticatorMetadata } from "./uaf/metadata.ts";
import {
  createAuthenticationRequest,
  createDeregistrationRequest,
  createRegistrationRequest,
} from "./uaf/requests.ts";
import { modelThatCannotShow } from "./uaf/transaction.ts";

/** The message of a request that no device can answer. */
const EMPTY_MESSAGE = "[]";

/**
 * Prepares a request; the caller commits it.
 *
 * `REG` excludes the keys that the user has registered. `AUTH` and `DEREG` fail at once if the user has no such device.
 * `DEREG` ignores named devices of other users. A `REG` or `AUTH` supersedes an older request of the same user. A request
 * of a sign-in supersedes only those of the same sign-in, so that concurrent sign-ins do not disturb each other.
 *
 * @param wanted `flowId`: the sign-in whose second factor this is
 * @param devices of the user, those alone that the request is for
 * @returns `write` inserts the request, and deletes the devices of a `DEREG`; `jobs` notify the devices or the account
 *   owner, and commit with it
 */
export async function prepareRequest(
  context: ClientContext<Process>,
  wanted: RequestInput & { flowId?: string },
  devices: readonly Device[],
): Promise<{ request: AuthenticatorRequest; deviceToken: string; write: Write; jobs: AuthenticatorJob[] }> {
  const { runtime, tenant, now } = context;
  const { platform } = runtime;
  const { operation, userId } = wanted;
  const id = newRequestId(platform);
  const challenge = randomToken(platform);
  const device = newDeviceToken(runtime, { tenant, id });
  const fails = operation !== "REG" && devices.length === 0;
  const pending = operation !== "DEREG" && !fails;
  const row: RequestRow = {
    tenantId: tenant.id,
    id,
    operation,
    status: pending ? "PENDING" : fails ? "FAILED" : "OK",
    userId,
    username: wanted.username,
    displayName: wanted.displayName ?? null,
    transaction: wanted.transaction ?? null,
    clientData: wanted.clientData ?? null,
    location: locationOf(context, wanted),
    deviceIds: wanted.deviceIds ?? null,
    isSecondFactorOnly: wanted.isSecondFactorOnly ?? null,
    challenge: pending ? challenge : null,
    message: fails ? EMPTY_MESSAGE : messageFor(context, wanted, challenge, devices),
    deviceTokenHash: device.hash,
    sealedDeviceToken: pending ? device.sealed : null,
    error: fails ? requestErrors.no_authenticator : null,
    deviceId: null,
    flowId: wanted.flowId ?? null,
    createdAt: now,
    validUntil: new Date(now.getTime() + tenant.config.authenticator.request_ttl * 1000),
    answeredAt: pending ? null : now,
  };
  const inserted = insertRequest(row);
  const write: Write =
    operation === "DEREG" && !fails
      ? async (tx) => {
          await deregister(tx, context, row, devices);
          await executePart(tx, inserted);
        }
      : writeOf(...(pending ? supersedeOlder(context, row) : []), inserted);
  const jobs = fails ? [] : await jobsOf(context, row, device.token, devices);
  return { request: requestFromRow(row, now), deviceToken: device.token, write, jobs };
}

/**
 * Creates a request for an application.
 *
 * @returns a message for developers if a device that may respond cannot show the text of the transaction
 */
export async function createRequest(
  context: ClientContext<Process>,
  wanted: RequestInput,
): Promise<{ ok: true; request: AuthenticatorRequest } | { ok: false; message: string }> {
  const { runtime, tenant } = context;
  const { userId, deviceIds = null, transaction } = wanted;
  const devices = await devicesOf(runtime.database.read, tenant, userId, deviceIds);
  const { accepted } = applicationOf(tenant.config);
  const model = transaction === undefined ? null : modelThatCannotShow(transaction, accepted, devices);
  if (model) return { ok: false, message: tooLong(model) };
  const { request, write, jobs } = await prepareRequest(context, wanted, devices);
  await commitWrite(runtime, jobs, { ...context, userId: accountNamedBy(userId) }, write);
  return { ok: true, request };
}

function tooLong({ aaid, maxTransactionBytes }: AuthenticatorMetadata): string {
  return `transaction may have at most ${maxTransactionBytes} bytes of UTF-8, which is what the authenticator model ${aaid} shows.`;
}

/** The place that the application states; otherwise that of the browser's address. */
function locationOf(
  { runtime }: ClientContext<Process>,
  { location = {}, clientData }: RequestInput,
): Location | null {
  return Object.keys(location).length > 0 ? location : locate(runtime, clientData?.remoteAddress);
}

function messageFor(
  { tenant }: ClientContext<Process>,
  { operation, username, transaction }: RequestInput,
  challenge: string,
  devices: readonly Device[],
): string {
  const { appId, accepted } = applicationOf(tenant.config);
  if (operation === "REG")
    return createRegistrationRequest({ appId, challenge, username, accepted, disallowed: devices });
  if (operation === "AUTH")
    return createAuthenticationRequest({ appId, challenge, transaction: transaction ?? null, keys: devices });
  const authenticators = devices.map(({ aaid, keyId }) => ({ aaid, keyID: keyId }));
  return createDeregistrationRequest({ appId, authenticators });
}

async function deregister(
  tx: Transaction,
  context: ClientContext<Process>,
  { id, userId }: RequestRow,
  devices: readonly Device[],
): Promise<void> {
  await revokeTrustedDevices(tx, context.tenant, userId);
  for (const device of sortInLockOrder(devices)) {
    if (!(await deleteDevice(tx, device))) continue;
    const details = { request_id: id, device_id: device.id, aaid: device.aaid };
    await audit(context, "authenticator_deregistered", details)(tx);
  }
  await deleteUnusedRecoveryCodes(tx, context.tenant, userId);
}

async function jobsOf(
  context: ClientContext<Process>,
  row: RequestRow,
  deviceToken: string,
  devices: readonly Device[],
): Promise<AuthenticatorJob[]> {
  if (row.operation === "AUTH") return pushes(context, row, deviceToken, devices);
  return row.operation === "DEREG" ? authenticatorNotice(context, "mfa_delete", row.userId) : [];
}

function pushes(
  { runtime, tenant }: ClientContext<Process>,
  { id, validUntil, createdAt }: RequestRow,
  deviceToken: string,
  devices: readonly Device[],
): PushJob[] {
  if (!tenant.config.authenticator.push_url) return [];
  const pushTokens = pushTokensOf(runtime, devices);
  if (pushTokens.length === 0) return [];
  return [
    {
      name: "push_authenticator_request",
      tenantId: tenant.id,
      requestId: id,
      operation: "AUTH",
      url: deviceUrl(tenant.config, id, deviceToken),
      pushTokens,
      validUntil: validUntil.toISOString(),
      lifetimeSeconds: Math.ceil((validUntil.getTime() - createdAt.getTime()) / 1000),
    },
  ];
}
