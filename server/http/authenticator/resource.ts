import type { z } from "zod";
import { applicationOf } from "../../authenticator/application.ts";
import { eventsPath, requestUrl } from "../../authenticator/request-addresses.ts";
import { viewToken } from "../../authenticator/request-tokens.ts";
import type { AuthenticatorRequest } from "../../authenticator/requests.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import type { authenticatorRequest, requestStatus } from "./schemas.ts";

type RequestResource = z.output<typeof authenticatorRequest>;
type Link = RequestResource["links"][number];

/** What a waiting page sees of a request: its status, without personal data. */
export function statusOf(request: AuthenticatorRequest): z.output<typeof requestStatus> {
  const { id, operation, status, createdAt, validUntil, error } = request;
  return {
    id,
    operation,
    status,
    createdAt: createdAt.toISOString(),
    validUntil: validUntil.toISOString(),
    ...(error ? { error: { code: error.code, reason: error.reason } } : {}),
  };
}

/** What the application or the authenticator sees of a request. */
export function resourceOf(
  context: Pick<HandlerContext, "runtime" | "tenant">,
  caller: "application" | "authenticator",
  request: AuthenticatorRequest,
): RequestResource {
  const { device, transaction, clientData, location, isSecondFactorOnly } = request;
  const { tenant } = context;
  const { name, appId, icon } = applicationOf(tenant.config);
  return {
    ...statusOf(request),
    username: request.username,
    userId: request.userId,
    relyingParty: { id: tenant.id, name, appId, icon },
    links: linksOf(context, caller, request),
    request: request.message,
    deviceID: request.deviceId ?? "",
    ...(clientData ? { clientData } : {}),
    ...(location ? { location } : {}),
    ...(transaction === null ? {} : { transaction }),
    ...(device ? { device } : {}),
    ...(isSecondFactorOnly === null ? {} : { isSecondFactorOnly }),
  };
}

/**
 * Builds the links of a request. Links for browsers carry their own tokens. Actions on a pending request are offered only
 * while it is pending.
 */
function linksOf(
  { runtime, tenant }: Pick<HandlerContext, "runtime" | "tenant">,
  caller: "application" | "authenticator",
  { id, status }: AuthenticatorRequest,
): Link[] {
  const self = requestUrl(tenant.config, id);
  const found: Link[] = [
    { rel: "status", method: "GET", href: self },
    { rel: "result", method: "GET", href: self },
  ];
  if (status !== "PENDING") return found;
  const validate: Link = { rel: "validate", method: "PUT", href: self };
  if (caller === "authenticator") return [...found, validate];
  const of = { tenant, id };
  const picture = `${self}/qrcode?token=${viewToken(runtime, "picture", of)}`;
  const events = tenant.config.base_url + eventsPath(id, viewToken(runtime, "view", of));
  return [
    { rel: "qrcode", method: "GET", href: picture },
    ...found,
    validate,
    { rel: "cancel", method: "DELETE", href: self },
    { rel: "events", method: "GET", href: events },
  ];
}
