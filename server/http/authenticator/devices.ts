import { removeUser } from "../../authenticator/delete-user.ts";
import { type Device, devicesOf, renameDevice } from "../../authenticator/devices.ts";
import { isUserId, renameBody } from "../../authenticator/request-input.ts";
import { json } from "../answer/reply.ts";
import { clientContext } from "../table/handler-context.ts";
import { readBody } from "./body.ts";
import { notFound, requireKey } from "./caller.ts";

/** Registered devices. */

/** `GET /authenticator/mgmt/v1/registrations/{user_id}`: 404 for a user without devices. */
export const devicesHandler = requireKey(async ({ runtime, tenant, params }) => {
  const userId = params.user_id ?? "";
  const devices = isUserId(userId) ? await devicesOf(runtime.database.read, tenant, userId) : [];
  return devices.length > 0 ? json(200, devices.map(resourceOf)) : notFound();
});

/** `DELETE /authenticator/mgmt/v1/registrations/{user_id}`: deletes the user's devices and requests. */
export const deleteUserHandler = requireKey(async (context) => {
  const userId = context.params.user_id ?? "";
  const deleted = isUserId(userId) && (await removeUser(await clientContext(context), userId));
  return deleted ? { status: 204 } : notFound();
});

/** `POST /authenticator/mgmt/v1/registrations/rename/{device_id}` */
export const renameHandler = requireKey(async (context) => {
  const read = await readBody(context, renameBody);
  if (!read.ok) return read.reply;
  const { newName } = read.value;
  const renamed = await renameDevice(await clientContext(context), context.params.device_id ?? "", newName);
  return renamed ? json(200, { newName }) : notFound();
});

/** A device as shown to applications, without its push token and secret. */
function resourceOf(device: Device) {
  const { deviceOs, osVersion } = device;
  return {
    deviceId: device.id,
    keyName: device.keyName,
    authenticatorType: "FIDO_UAF",
    lastUsage: device.lastUsedAt.toISOString(),
    createdAt: device.createdAt.toISOString(),
    isSecondFactorOnly: device.isSecondFactorOnly,
    ...(deviceOs === null ? {} : { deviceOs }),
    ...(osVersion === null ? {} : { osVersion }),
  };
}
