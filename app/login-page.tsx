import { redirect } from "next/navigation";
import { withinTenant } from "#server/http/tenant-path";
import { FlowPage, parametersOf, type Query, tenantOfPage } from "./flow-page.tsx";

/**
 * A tenant's hosted page of login and registration.
 *
 * @param tenantId the tenant id in the address; null for an address without one
 */
export async function LoginPage({ tenantId, query }: { tenantId: string | null; query: Query }) {
  const { config } = await tenantOfPage(tenantId);
  // The destination is stored in a cookie, which a page cannot set.
  if (query.redirect_to !== undefined) redirect(withinTenant(config, `/login?${parametersOf(query)}`));
  if (query.flow === "profile") redirect(withinTenant(config, "/account"));
  const type = (["login", "registration", "token_exchange"] as const).find((name) => name === query.flow);
  return <FlowPage tenantId={tenantId} type={type ?? null} query={query} path="/" />;
}
