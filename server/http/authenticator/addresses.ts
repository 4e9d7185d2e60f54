import { z } from "zod";
import { answerBody, renameBody, requestBody } from "../../authenticator/request-input.ts";
import { trustedFacetsType } from "../../authenticator/uaf/facets.ts";
import { type Address, address, type Operation, type Security } from "../table/address.ts";
import { acceptingNull } from "../table/fields.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";
import { facetsHandler, helloHandler } from "./application.ts";
import { deleteUserHandler, devicesHandler, renameHandler } from "./devices.ts";
import { eventsHandler } from "./events.ts";
import { qrCodeHandler } from "./qr-code.ts";
import { answerHandler, cancelHandler, createHandler, showHandler } from "./requests.ts";
import { authenticatorRequest, device, requestStatus, trustedFacets } from "./schemas.ts";

const requests = "/v1/uaf/requests";
const devices = "/mgmt/v1/registrations";

const UNAUTHORIZED = "The API key or token is missing or wrong.";
const REJECTED = "The body or a parameter is rejected.";
const NOT_FOUND = "There is no such thing.";

const wait = z.object({
  token: z.string().optional().describe("The read-only token of a page."),
  wait: z
    .string()
    .regex(/^\d{1,6}$/)
    .optional()
    .describe("Seconds to wait for the end of the request, at most 25."),
});

const pixels = z.string().regex(/^\d{1,4}$/);
const colour = z.string().regex(/^[0-9a-fA-F]{1,6}$/);

/** A row. By default it requires an API key. */
const row = (
  method: Address["method"],
  path: string,
  {
    handler,
    security = "authenticator",
    answers,
    ...declared
  }: Omit<Operation, "tag" | "security"> & { handler: Handler; security?: Security },
): Address =>
  described(address(method, `/authenticator${path}`, handler, "authenticator", "public"), {
    ...declared,
    tag: "authenticator",
    security,
    answers: security === "none" ? answers : { 401: UNAUTHORIZED, ...answers },
  });

/** Addresses of authenticator requests and devices (docs/authenticator-requests.md). */
export const authenticatorAddresses: readonly Address[] = [
  row("GET", "/hello", {
    handler: helloHandler,
    id: "checkAuthenticatorKey",
    summary: "Whether an API key is valid",
    answers: { 200: { schema: z.object({ message: z.string() }) } },
  }),
  row("GET", "/facets", {
    handler: facetsHandler,
    security: "none",
    id: "getFacets",
    summary: "Get the trusted facets of the AppID",
    answers: { 200: { schema: trustedFacets, mediaType: trustedFacetsType } },
  }),
  row("POST", requests, {
    handler: createHandler,
    id: "createAuthenticatorRequest",
    summary: "Create a request to the authenticator of a user",
    body: acceptingNull(requestBody),
    answers: {
      200: { schema: authenticatorRequest },
      400: REJECTED,
      429: "Too many requests for this user.",
    },
  }),
  row("GET", `${requests}/{id}`, {
    handler: showHandler,
    security: "device",
    id: "getAuthenticatorRequest",
    summary: "Get a request, at once or when it ends",
    query: wait,
    answers: {
      200: { schema: z.union([authenticatorRequest, requestStatus]) },
      400: REJECTED,
      404: NOT_FOUND,
    },
  }),
  row("PUT", `${requests}/{id}`, {
    handler: answerHandler,
    security: "device",
    id: "answerAuthenticatorRequest",
    summary: "Answer a request with the response of the authenticator",
    body: acceptingNull(answerBody),
    answers: { 200: { schema: authenticatorRequest }, 400: REJECTED, 404: NOT_FOUND },
  }),
  row("DELETE", `${requests}/{id}`, {
    handler: cancelHandler,
    id: "cancelAuthenticatorRequest",
    summary: "Cancel a request",
    answers: { 200: { schema: authenticatorRequest }, 404: NOT_FOUND },
  }),
  row("GET", `${requests}/{id}/qrcode`, {
    handler: qrCodeHandler,
    security: "device",
    id: "getAuthenticatorQrCode",
    summary: "Get the QR code of a request as a picture",
    description: "PNG, or SVG if `Accept` prefers it.",
    query: z.object({
      token: z.string().optional().describe("The read-only token of the picture."),
      width: pixels.optional().describe("Pixels, 32 to 1024."),
      height: pixels.optional().describe("Pixels, 32 to 1024."),
      fg: colour.optional().describe("Colour of the code, hex."),
      bg: colour.optional().describe("Colour of the ground, hex."),
    }),
    answers: { 200: { schema: z.string(), mediaType: "image/png" }, 400: REJECTED, 404: NOT_FOUND },
  }),
  row("GET", `${requests}/{id}/events`, {
    handler: eventsHandler,
    security: "device",
    id: "followAuthenticatorRequest",
    summary: "Follow the status of a request by server-sent events",
    description: "JSON for a caller that does not accept `text/event-stream`.",
    query: wait,
    answers: {
      200: { schema: requestStatus },
      204: "The request has ended, and the page knows it.",
      400: REJECTED,
      404: NOT_FOUND,
    },
  }),
  row("GET", `${devices}/{user_id}`, {
    handler: devicesHandler,
    id: "listDevices",
    summary: "List the devices of a user",
    answers: { 200: { schema: z.array(device) }, 404: "The user has no devices." },
  }),
  row("DELETE", `${devices}/{user_id}`, {
    handler: deleteUserHandler,
    id: "removeDevices",
    summary: "Delete the devices and requests of a user",
    answers: { 204: "They are deleted.", 404: "The user has neither." },
  }),
  row("POST", `${devices}/rename/{device_id}`, {
    handler: renameHandler,
    id: "renameDevice",
    summary: "Rename a device",
    body: acceptingNull(renameBody),
    answers: { 200: { schema: z.object({ newName: z.string() }) }, 400: REJECTED, 404: NOT_FOUND },
  }),
];
