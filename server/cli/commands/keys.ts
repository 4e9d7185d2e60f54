import { createApiKey, deleteApiKey, keyInterfaces, listApiKeys } from "../../tenants/api-keys.ts";
import { atTenant } from "../at-tenant.ts";
import { command, missing } from "../command.ts";
import { idOf, jsonOption, nameOf, tenantOption } from "../options.ts";
import { printTable } from "../table.ts";

export const keysList = command({
  name: "keys list",
  summary: "List API keys, without the keys.",
  options: { tenant: { ...tenantOption, description: "Only keys of this tenant." }, json: jsonOption },
  async run(cli, values) {
    const keys =
      values.tenant === undefined
        ? await cli.withRuntime((runtime) => listApiKeys(runtime))
        : await atTenant(cli, values.tenant, ({ runtime, tenant }) => listApiKeys(runtime, tenant));
    const listed = keys.map(({ id, tenantId, name, createdAt, lastUsedAt, ...key }) => ({
      id,
      tenant: tenantId,
      interface: key.interface,
      name,
      created_at: createdAt,
      last_used_at: lastUsedAt,
    }));
    if (values.json) return cli.print(JSON.stringify(listed));
    await printTable(cli, listed, {
      id: "id",
      tenant: "tenant",
      interface: "interface",
      created: "created_at",
      "last used": ({ last_used_at }) => last_used_at?.toISOString() ?? "never",
      name: "name",
    });
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
    tenant: tenantOption,
    name: { description: "A name that describes its use.", value: "text" },
    json: { description: "The key with its id, as JSON." },
  },
  async run(cli, { interface: named, tenant: tenantId, name = "", json }) {
    const keyInterface = nameOf(named, keyInterfaces, "an interface");
    const created = await atTenant(cli, tenantId, ({ runtime, tenant }) =>
      createApiKey(runtime, tenant, { interface: keyInterface, name }),
    );
    await cli.print(json ? JSON.stringify(created) : created.key);
  },
});

export const keysDelete = command({
  name: "keys delete",
  summary: "Delete an API key, which is then rejected.",
  takes: ["id"],
  async run(cli, _, [id = ""]) {
    const keyId = idOf(id);
    if (!keyId) throw missing("key", id);
    await cli.withRuntime(async (runtime) => {
      const key = (await listApiKeys(runtime)).find((listed) => listed.id === keyId);
      // The tenant's own settings may be invalid.
      const tenant = key && { id: key.tenantId, config: runtime.config };
      if (!tenant || !(await deleteApiKey(runtime, tenant, keyId))) throw missing("key", id);
    });
  },
});
