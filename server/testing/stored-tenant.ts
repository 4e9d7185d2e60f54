import { eq, sql } from "drizzle-orm";
import { schema } from "#db/client";
import type { Tree } from "../lib/tree.ts";
import { createTenant, type ManagementContext } from "../tenants/manage-tenants.ts";
import { sealSettings } from "../tenants/sealed-settings.ts";

const { tenants } = schema;

/**
 * Creates a tenant, and stores settings for it that no change would accept.
 *
 * @param sealed those of them that the version which has stored them holds for secrets
 * @returns its id
 */
export async function storedTenant(
  context: ManagementContext,
  settings: Tree,
  sealed: Tree = {},
): Promise<string> {
  const { id } = await createTenant(context, { name: "Acme", hosts: [], settings: {} });
  await context.database.write
    .update(tenants)
    .set({
      ...sealSettings(context.vault, id, settings, sealed),
      updatedAt: sql`now() + interval '1 minute'`,
    })
    .where(eq(tenants.id, id));
  context.tenants.forget();
  return id;
}
