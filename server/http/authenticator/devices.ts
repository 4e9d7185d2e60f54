import { readNow } from "#db/clock";
import { audit } from "../../audit/audit.ts";
import { type Device, devicesOf, renameDevice } from "../../authenticator/devices.ts";
import { isUserId, readRename } from "../../authenticator/request-input.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";
import { readBody } from "./body.ts";
import { rejectWithoutKey } from "./caller.ts";
import { authenticatorError } from "./error.ts";

/** Devices that are registered. */

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `GET /authenticator/mgmt/v1/registrations/{user_id}`: 404 for a user without devices, whom nobody knows here. */
export const devicesHandler: Handler = async (context) => {
  const rejection = await rejectWithoutKey(context);
  if (rejection) return rejection;
  const { runtime, tenant, params } = context;
  const userId = params.user_id ?? "";
  const devices = isUserId(userId) ? await devicesOf(runtime.database.read, tenant, userId) : [];
  return devices.length > 0 ? json(200, devices.map(resourceOf)) : authenticatorError(404, "Not Found.");
};

/** `POST /authenticator/mgmt/v1/registrations/rename/{device_id}` */
export const renameHandler: Handler = async (context) => {
  const rejection = await rejectWithoutKey(context);
  if (rejection) return rejection;
  const { runtime, tenant, client, params } = context;
  const given = await readBody(context, readRename);
  if (!given.ok) return given.rejection;
  const id = params.device_id ?? "";
  const { newName } = given.value;
  const now = await readNow(runtime.database.read, runtime.platform.clockShift());
  const renamed =
    uuid.test(id) &&
    (await runtime.database.write.transaction(async (tx) => {
      if (!(await renameDevice(tx, tenant, id, newName))) return false;
      await audit({ runtime, tenant, client, now }, "authenticator_renamed", { device_id: id })(tx);
      return true;
    }));
  return renamed ? json(200, { newName }) : authenticatorError(404, "Not Found.");
};

/** What an application may know of a device; what reaches its app is not among it. */
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
