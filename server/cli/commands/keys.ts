import { isUuid } from "../../lib/uuid.ts";
import {
  createApiKey,
  deleteApiKey,
  type KeyInterface,
  keyInterfaces,
  listApiKeys,
} from "../../tenants/api-keys.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { findTenant } from "../find-tenant.ts";
import { table } from "../table.ts";

const tenant = { description: "Id of the tenant; by default the default tenant.", value: "id" } as const;
const json = { description: "As JSON." } as const;

export const keysList = command({
  name: "keys list",
  summary: "List API keys, without the keys.",
  options: { tenant: { ...tenant, description: "Only keys of this tenant." }, json },
  async run(cli, values) {
    const keys = await cli.withRuntime(async (runtime) =>
      listApiKeys(
        runtime,
        values.tenant === undefined ? undefined : await findTenant(runtime, values.tenant),
      ),
    );
    if (values.json) {
      return cli.print(
        JSON.stringify(
          keys.map(({ id, tenantId, interface: keyInterface, name, createdAt, lastUsedAt }) => ({
            id,
            tenant: tenantId,
            interface: keyInterface,
            name,
            created_at: createdAt,
            last_used_at: lastUsedAt,
          })),
        ),
      );
    }
    const rows = keys.map((key) => [
      key.id,
      key.tenantId,
      key.interface,
      key.createdAt.toISOString(),
      key.lastUsedAt?.toISOString() ?? "never",
      key.name,
    ]);
    for (const line of table(["id", "tenant", "interface", "created", "last used", "name"], rows))
      await cli.print(line);
  },
});

export const keysCreate = command({
  name: "keys create",
  summary: "Create an API key and print it.",
  details: "Prints only the key. It is stored as a hash and cannot be printed again.",
  options: {
    interface: {
      description: `The interface that it authorizes: ${keyInterfaces.join(", ")}.`,
      value: "interface",
      required: true,
    },
    tenant,
    name: { description: "A name that describes its use.", value: "text" },
    json: { description: "The key with its id, as JSON." },
  },
  async run(cli, { interface: named, tenant, name = "", json }) {
    const keyInterface = interfaceNamed(named);
    const created = await cli.withRuntime(async (runtime) =>
      createApiKey(runtime, await findTenant(runtime, tenant), { interface: keyInterface, name }),
    );
    await cli.print(json ? JSON.stringify(created) : created.key);
  },
});

export const keysDelete = command({
  name: "keys delete",
  summary: "Delete an API key, which is then rejected.",
  takes: ["id"],
  async run(cli, _, [id = ""]) {
    const deleted =
      isUuid(id) &&
      (await cli.withRuntime(async (runtime) => {
        const key = (await listApiKeys(runtime)).find((listed) => listed.id === id.toLowerCase());
        if (!key) return false;
        // The tenant's own settings may be invalid.
        return deleteApiKey(runtime, { id: key.tenantId, config: runtime.config }, key.id);
      }));
    if (!deleted) throw new CommandError(`there is no key ${id}`);
  },
});

function interfaceNamed(name: string): KeyInterface {
  const found = keyInterfaces.find((known) => known === name);
  if (!found) throw new UsageError(`${name} is not an interface: ${keyInterfaces.join(", ")}`);
  return found;
}
