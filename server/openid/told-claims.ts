import type { TenantContext } from "../context/context.ts";
import type { Json } from "../lib/go-template.ts";
import type { Logs } from "../observability/logger.ts";
import type { EvaluatedClaims } from "../sessions/claim-template.ts";

/**
 * The claims that a client is told. What is left out is logged; an empty claim is left out too (OpenID Connect Core, 5.3.2).
 *
 * @param where the client, and the setting that has the claims
 */
export function told(
  { runtime, tenant }: TenantContext<Logs>,
  { values, leftOut }: EvaluatedClaims,
  where: Record<"client" | "setting", string>,
): Record<string, Json> {
  for (const { claim, reason } of leftOut)
    runtime.log.warn({ tenant: tenant.id, ...where, claim, reason }, "a claim of a client is left out");
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
}
