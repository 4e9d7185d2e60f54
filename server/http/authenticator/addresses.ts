import type { Address } from "../address.ts";
import type { Handler } from "../handler-context.ts";
import { facetsHandler, helloHandler } from "./application.ts";
import { deleteUserHandler, devicesHandler, renameHandler } from "./devices.ts";
import { eventsHandler } from "./events.ts";
import { qrCodeHandler } from "./qr-code.ts";
import { answerHandler, cancelHandler, createHandler, showHandler } from "./requests.ts";

const requests = "/v1/uaf/requests";
const devices = "/mgmt/v1/registrations";

const rows: [Address["method"], string, Handler][] = [
  ["GET", "/hello", helloHandler],
  ["GET", "/facets", facetsHandler],
  ["POST", requests, createHandler],
  ["GET", `${requests}/{id}`, showHandler],
  ["PUT", `${requests}/{id}`, answerHandler],
  ["DELETE", `${requests}/{id}`, cancelHandler],
  ["GET", `${requests}/{id}/qrcode`, qrCodeHandler],
  ["GET", `${requests}/{id}/events`, eventsHandler],
  ["GET", `${devices}/{user_id}`, devicesHandler],
  ["DELETE", `${devices}/{user_id}`, deleteUserHandler],
  ["POST", `${devices}/rename/{device_id}`, renameHandler],
];

/** Addresses of authenticator requests and devices (docs/authenticator-requests.md). */
export const authenticatorAddresses: readonly Address[] = rows.map(([method, path, handler]) => ({
  method,
  path: `/authenticator${path}`,
  handler,
  errorShape: "authenticator",
  access: "public",
}));
