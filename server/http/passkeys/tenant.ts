import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import type { Located } from "../locate.ts";
import type { Reply } from "../reply.ts";
import { errorReply } from "./error-reply.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The tenant that an address of the passkey server names. Under the server's own host names that may be any; under a
 * tenant's own host name, that tenant alone.
 *
 * @param located by host name
 * @param id the segment after `/passkeys`
 * @throws ConfigError when the tenant's settings do not hold any more
 */
export async function passkeyTenant(
  { tenant: byDefault, tenants }: Pick<Runtime, "tenant" | "tenants">,
  located: Located,
  id: string,
): Promise<{ tenant: Tenant } | { refusal: Reply }> {
  const named = id.toLowerCase();
  if (!uuid.test(named)) return { refusal: errorReply(400, "tenant_id must be a valid uuid4") };
  const tenant = await tenants.byId(named);
  const here = tenant && (located.tenant === byDefault || located.tenant === tenant);
  return here ? { tenant } : { refusal: errorReply(404, "tenant not found") };
}
