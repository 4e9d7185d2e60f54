import { createTenant, deleteTenant, listTenants, updateTenant } from "../../tenants/manage-tenants.ts";
import { command, missing } from "../command.ts";
import { idOf, jsonOption, uuidOf } from "../options.ts";
import { settingsIn, withSource } from "../settings-file.ts";
import { printTable } from "../table.ts";

const description = {
  name: { description: "Its name for users.", value: "text" },
  host: {
    description: "Its own host name, the public one first; without any it is served under /t/<id>.",
    value: "name",
    multiple: true,
  },
  config: {
    description:
      "Settings that override the server's: a file like stile.config.json, or - for standard input.",
    value: "file",
  },
} as const;

export const tenantsList = command({
  name: "tenants list",
  summary: "List tenants with their addresses.",
  options: { json: jsonOption },
  async run(cli, { json }) {
    const all = await cli.withRuntime(async (runtime) =>
      (await listTenants(runtime)).map(({ row, tenant }) => ({
        id: row.id,
        name: row.name,
        address: tenant?.config.base_url ?? null,
        created_at: row.createdAt.toISOString(),
        default: row.id === runtime.tenant.id,
      })),
    );
    if (json) return cli.print(JSON.stringify(all));
    await printTable(cli, all, {
      id: "id",
      address: ({ address }) => address ?? "(its settings are no longer valid)",
      name: "name",
    });
  },
});

export const tenantsCreate = command({
  name: "tenants create",
  summary: "Create a tenant and print its id.",
  details:
    "It has the server's configuration, except settings from --config and those that only the default tenant has:\nallowed origins and addresses, identity providers, issuer and audience, relying party.",
  options: {
    ...description,
    name: { ...description.name, required: true },
    id: { description: "A UUID; by default a new one.", value: "uuid" },
    json: { description: "Id, name and address, as JSON." },
  },
  async run(cli, { name, id, host, config, json }) {
    const chosenId = id === undefined ? undefined : uuidOf(id);
    const settings = config === undefined ? undefined : await settingsIn(cli.input, config);
    const tenant = await withSource("--config", config, () =>
      cli.withRuntime((runtime) =>
        createTenant(runtime, {
          name,
          hosts: host,
          settings: settings ?? {},
          ...(chosenId === undefined ? {} : { id: chosenId }),
        }),
      ),
    );
    const shown = { id: tenant.id, name: name.trim(), address: tenant.config.base_url };
    await cli.print(json ? JSON.stringify(shown) : tenant.id);
  },
});

export const tenantsUpdate = command({
  name: "tenants update",
  summary: "Change a tenant's name, host names or configuration.",
  details:
    "Omitted options change nothing. The file given with --config replaces all of its settings.\nIn lists, what only a later version of Stile knows stays.",
  takes: ["id"],
  options: description,
  async run(cli, { name, host, config }, [id = ""]) {
    const tenantId = idOf(id);
    if (!tenantId) throw missing("tenant", id);
    const settings = config === undefined ? undefined : await settingsIn(cli.input, config);
    await withSource("--config", config, () =>
      cli.withRuntime((runtime) =>
        updateTenant(runtime, tenantId, {
          ...(name === undefined ? {} : { name }),
          ...(host.length === 0 ? {} : { hosts: host }),
          ...(settings === undefined ? {} : { settings: () => settings }),
        }),
      ),
    );
  },
});

export const tenantsDelete = command({
  name: "tenants delete",
  summary: "Delete a tenant with all of its data.",
  takes: ["id"],
  options: { "with-users": { description: "Delete a tenant that has users, with its users." } },
  async run(cli, values, [id = ""]) {
    const tenantId = idOf(id);
    if (!tenantId) throw missing("tenant", id);
    await cli.withRuntime((runtime) => deleteTenant(runtime, tenantId, { withUsers: values["with-users"] }));
  },
});
