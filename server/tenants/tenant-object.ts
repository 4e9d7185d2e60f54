import { z } from "zod";
import { faultsOfWords } from "#words/own-texts";
import type { Tenant } from "../config/tenant.ts";
import type { Vault } from "../keys/vault.ts";
import { isTree } from "../lib/tree.ts";
import { themeWarnings } from "../theme/theme-css.ts";
import type { ReadTenant } from "./manage-tenants.ts";
import { openSealed } from "./sealed-settings.ts";
import { withoutUnknown } from "./unknown-settings.ts";

const time = z.iso.datetime({ precision: 3 });

/** A tenant as operators see it. */
export const tenantObjectSchema = z
  .strictObject({
    id: z.guid(),
    name: z.string(),
    hosts: z.array(z.string()).describe("Its own host names, the public one first."),
    base_url: z.string().nullable().describe("Its public address; null if its settings are no longer valid."),
    default: z
      .boolean()
      .describe("Whether it is the tenant of the server's configuration, which defines its settings."),
    config: z.record(z.string(), z.unknown()).describe("Its own settings, without secrets."),
    secrets: z.array(z.string()).describe("The paths of the secrets that are set, for instance `smtp_url`."),
    warnings: z
      .array(z.string())
      .describe(
        "What is accepted and not used as it is, such as colours with too little contrast, and entries from before a bound was made.",
      ),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Tenant" });

export type TenantObject = z.output<typeof tenantObjectSchema>;

/**
 * Describes a tenant. Secrets are told by their paths alone.
 *
 * @throws UnknownKeyError if the key that sealed its secrets is not configured
 */
export function tenantObject(
  vault: Vault,
  { row, tenant, ignored, isDefault }: ReadTenant & { isDefault: boolean },
): TenantObject {
  return {
    id: row.id,
    name: row.name,
    hosts: row.hosts,
    base_url: tenant?.config.base_url ?? null,
    default: isDefault,
    config: withoutUnknown(row.config, ignored),
    secrets: leafPaths(withoutUnknown(openSealed(vault, row.id, row), ignored)),
    warnings: [...ignored.map(({ line }) => line), ...(tenant ? warningsOf(tenant) : [])],
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

const warningsOf = ({ config }: Tenant) => [...themeWarnings(config.theme), ...faultsOfWords(config.words)];

function leafPaths(value: unknown, path: string[] = []): string[] {
  if (!isTree(value)) return [path.join(".")];
  return Object.entries(value).flatMap(([name, member]) => leafPaths(member, [...path, name]));
}
