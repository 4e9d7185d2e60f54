import type { Tenant } from "../../config/tenant.ts";
import type { ConsoleVisitor } from "../../console/console-sessions.ts";
import type { Client } from "../../context/client.ts";
import { currentTime } from "../../database/current-time.ts";
import type { AccessFields } from "../../observability/access-fields.ts";
import type { ClientContext, RequestContext, Runtime } from "../../runtime.ts";
import type { Reply } from "../answer/reply.ts";
import type { Frame } from "../page/frame.ts";
import type { ApiRequest } from "../request/api-request.ts";
import type { OtherOrigin } from "../request/origin.ts";

/** A request, its tenant and its client. */
export interface HandlerContext {
  runtime: Runtime;
  tenant: Tenant;
  client: Client;
  request: ApiRequest;
  /** Address of the request, without the tenant's prefix. */
  url: URL;
  /** Decoded values of the path segments in braces, by name. */
  params: Readonly<Record<string, string>>;
  /** The `Cookie` header. */
  cookies: string | null;
  /** The page in whose frame a tRPC call was made; absent for calls of our own pages. */
  frame?: Frame;
  /** The page of another origin that made a tRPC call; absent for calls of our own pages. */
  otherOrigin?: OtherOrigin;
  /** The account of the console that makes the call; absent for calls with a key. */
  visitor?: ConsoleVisitor;
  /** Of the primary when the caller was authenticated, for reads at replicas; absent for calls that change something. */
  position?: string | null;
  /** Address of the other end of the connection, which may be a proxy. */
  peer: string;
  /** Fields of the request's line in the access log, for handlers to complete. */
  accessFields: AccessFields;
  /** What the answer has beside what the handler answers, such as headers of the session's check. */
  answerWith: { headers: Record<string, string>; cookies: string[] };
}

export type HandlerResult = Reply | Response | Promise<Reply | Response>;

/** Answers one method of one address. Errors it throws are logged and answered with status 500. */
export type Handler = (context: HandlerContext) => HandlerResult;

/** Context of a request for the feature folders, with the time by the database's clock. */
export async function clientContext({ runtime, tenant, client }: HandlerContext): Promise<ClientContext> {
  return { runtime, tenant, client, now: await currentTime(runtime) };
}

/** The same for what judges a request, which ends with its connection. */
export async function requestContextOf(context: HandlerContext): Promise<RequestContext> {
  return { ...(await clientContext(context)), signal: context.request.signal };
}
