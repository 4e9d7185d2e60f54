import { ne } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";

const { tenants } = schema;

/** Whether the deployment has no other tenant. */
export async function isOnlyTenant(db: ReadOnly, tenantId: string): Promise<boolean> {
  const others = await db.select({ id: tenants.id }).from(tenants).where(ne(tenants.id, tenantId)).limit(1);
  return others.length === 0;
}
