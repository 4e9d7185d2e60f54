import { applicationOf } from "../../authenticator/application.ts";
import { eventsPath, requestUrl } from "../../authenticator/request-addresses.ts";
import { showingToken } from "../../authenticator/request-tokens.ts";
import type { AuthenticatorRequest } from "../../authenticator/requests.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { Caller } from "./caller.ts";

/** `interface.md` 2.3. */
interface RequestResource {
  id: string;
  operation: AuthenticatorRequest["operation"];
  username: string;
  userId: string;
  status: AuthenticatorRequest["status"];
  /** ISO 8601, like the other. */
  createdAt: string;
  validUntil: string;
  relyingParty: { id: string; name: string; appId: string; icon: string };
  links: Link[];
  /** UAF messages as the text of a JSON array, for `uafProtocolMessage`; `[]` where there is nothing to answer. */
  request: string;
  /** Empty until there is one. */
  deviceID: string;
  clientData?: { remoteAddress?: string; userAgent?: string };
  transaction?: string;
  device?: { deviceId: string; keyName: string };
  isSecondFactorOnly?: boolean;
  error?: { code: number; reason: string };
}

interface Link {
  rel: "qrcode" | "status" | "result" | "validate" | "cancel" | "events";
  method: "GET" | "PUT" | "DELETE";
  href: string;
}

type PageResource = Pick<
  RequestResource,
  "id" | "operation" | "status" | "createdAt" | "validUntil" | "error"
>;

/** A request as its caller may see it: a page sees what became of it, and nothing of whom it is about. */
export function resourceOf(
  context: Pick<HandlerContext, "runtime" | "tenant">,
  caller: Caller,
  request: AuthenticatorRequest,
): RequestResource | PageResource {
  const { error, device, transaction, clientData, isSecondFactorOnly } = request;
  const known: PageResource = {
    id: request.id,
    operation: request.operation,
    status: request.status,
    createdAt: request.createdAt.toISOString(),
    validUntil: request.validUntil.toISOString(),
    ...(error ? { error: { code: error.code, reason: error.reason } } : {}),
  };
  if (caller !== "application" && caller !== "phone") return known;
  const { tenant } = context;
  const { name, appId, icon } = applicationOf(tenant.config);
  return {
    ...known,
    username: request.username,
    userId: request.userId,
    relyingParty: { id: tenant.id, name, appId, icon },
    links: linksOf(context, caller, request),
    request: request.message,
    deviceID: request.deviceId ?? "",
    ...(clientData ? { clientData } : {}),
    ...(transaction === null ? {} : { transaction }),
    ...(device ? { device } : {}),
    ...(isSecondFactorOnly === null ? {} : { isSecondFactorOnly }),
  };
}

/** What a page that waits is shown. */
export const pageResourceOf = (
  context: Pick<HandlerContext, "runtime" | "tenant">,
  request: AuthenticatorRequest,
): PageResource => resourceOf(context, "page", request);

/**
 * Links that can be followed as they stand; those that a browser follows carry a token of their own. What can only be
 * done to a request that waits is offered only then.
 */
function linksOf(
  { runtime, tenant }: Pick<HandlerContext, "runtime" | "tenant">,
  caller: "application" | "phone",
  { id, status }: AuthenticatorRequest,
): Link[] {
  const self = requestUrl(tenant.config, id);
  const found: Link[] = [
    { rel: "status", method: "GET", href: self },
    { rel: "result", method: "GET", href: self },
  ];
  if (status !== "PENDING") return found;
  const validate: Link = { rel: "validate", method: "PUT", href: self };
  if (caller === "phone") return [...found, validate];
  const of = { tenant, id };
  const picture = `${self}/qrcode?token=${showingToken(runtime, "picture", of)}`;
  const events = tenant.config.base_url + eventsPath(id, showingToken(runtime, "view", of));
  return [
    { rel: "qrcode", method: "GET", href: picture },
    ...found,
    validate,
    { rel: "cancel", method: "DELETE", href: self },
    { rel: "events", method: "GET", href: events },
  ];
}
