import { isUuid } from "../../lib/uuid.ts";
import {
  createApiKey,
  deleteApiKey,
  type KeyInterface,
  keyInterfaces,
  listApiKeys,
} from "../../tenants/api-keys.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { table } from "../table.ts";
import { tenantNamed } from "../tenant-named.ts";

const tenant = { description: "Id of the tenant; by default the default tenant.", value: "id" } as const;
const json = { description: "As JSON." } as const;

export const keysList = command({
  name: "keys list",
  summary: "List API keys, without the keys.",
  options: { tenant: { ...tenant, description: "Of this tenant alone." }, json },
  async run(cli, values) {
    const keys = await cli.withRuntime(async (runtime) =>
      listApiKeys(
        runtime,
        values.tenant === undefined ? undefined : await tenantNamed(runtime, values.tenant),
      ),
    );
    if (values.json) {
      return cli.print(
        JSON.stringify(
          keys.map(({ id, tenantId, interface: opens, name, createdAt, lastUsedAt }) => ({
            id,
            tenant: tenantId,
            interface: opens,
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
  summary: "Make an API key, and print it: this once.",
  details: "The key alone goes to standard output. It is kept as a hash, so nothing can show it again.",
  options: {
    interface: {
      description: `What it opens: ${keyInterfaces.join(", ")}.`,
      value: "interface",
      required: true,
    },
    tenant,
    name: { description: "What it is for, to tell it from others.", value: "text" },
    json: { description: "The key with its id, as JSON." },
  },
  async run(cli, { interface: named, tenant, name = "", json }) {
    const opens = interfaceNamed(named);
    const made = await cli.withRuntime(async (runtime) =>
      createApiKey(runtime, await tenantNamed(runtime, tenant), { interface: opens, name }),
    );
    await cli.print(json ? JSON.stringify(made) : made.key);
  },
});

export const keysDelete = command({
  name: "keys delete",
  summary: "Delete an API key: it opens nothing from then on.",
  takes: ["id"],
  async run(cli, _, [id = ""]) {
    const gone = isUuid(id) && (await cli.withRuntime((runtime) => deleteApiKey(runtime, id)));
    if (!gone) throw new CommandError(`there is no key ${id}`);
  },
});

function interfaceNamed(name: string): KeyInterface {
  const found = keyInterfaces.find((known) => known === name);
  if (!found) throw new UsageError(`${name} is not an interface: ${keyInterfaces.join(", ")}`);
  return found;
}
