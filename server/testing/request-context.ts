import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../runtime.ts";
import { type TestRuntime, testClient } from "./runtime.ts";

/** A request at a time that the test sets. No deadline ends it, so a slow machine changes nothing. */
export function requestContext(
  runtime: TestRuntime,
  {
    tenant = runtime.tenant,
    now = new Date(),
    source = testClient.source,
  }: { tenant?: Tenant; now?: Date; source?: string } = {},
): RequestContext {
  return { runtime, tenant, client: { ...testClient, source }, now, signal: new AbortController().signal };
}
