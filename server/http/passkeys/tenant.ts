import type { Tenant } from "../../config/tenant.ts";
import { isCanonicalUuid } from "../../lib/uuid.ts";
import type { Runtime } from "../../runtime.ts";
import type { Reply } from "../answer/reply.ts";
import type { Located } from "../request/locate.ts";
import { errorReply } from "./error-reply.ts";

/**
 * Finds the tenant named in a path of the passkey server. Under the server's own host names it may be any tenant, under
 * a tenant's own host name only that tenant.
 *
 * @param located the tenant of the host name
 * @param id the segment after `/passkeys`
 * @throws ConfigError if the tenant's settings are not valid any more
 */
export async function passkeyTenant(
  { tenant: defaultTenant, tenants }: Pick<Runtime, "tenant" | "tenants">,
  located: Located,
  id: string,
): Promise<{ tenant: Tenant } | { error: Reply }> {
  const named = id.toLowerCase();
  if (!isCanonicalUuid(named)) return { error: errorReply(400, "tenant_id must be a valid uuid4") };
  const tenant = await tenants.byId(named);
  const isServed = tenant && (located.tenant === defaultTenant || located.tenant === tenant);
  return isServed ? { tenant } : { error: errorReply(404, "tenant not found") };
}
