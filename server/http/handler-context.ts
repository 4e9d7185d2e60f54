import type { Client } from "../client.ts";
import { currentTime } from "../database/current-time.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Reply } from "./reply.ts";

/** One request, and all that is known of it before anything is done. */
export interface HandlerContext {
  runtime: Runtime;
  tenant: Tenant;
  client: Client;
  request: Request;
  /** Its address, without what stands before a tenant's addresses. */
  url: URL;
  /** What stands in the path where its pattern has braces, by the name in them, decoded. */
  params: Readonly<Record<string, string>>;
  /** The `Cookie` header. */
  cookies: string | null;
  /** Address of the other end of the connection, which may be a proxy. */
  peer: string;
}

/** Answers one method of one address. What it throws is logged, and answered 500. */
export type Handler = (context: HandlerContext) => Reply | Response | Promise<Reply | Response>;

/** Context of a request for the feature folders, with the time by the database's clock. */
export async function clientContext({ runtime, tenant, client }: HandlerContext): Promise<ClientContext> {
  return { runtime, tenant, client, now: await currentTime(runtime) };
}
