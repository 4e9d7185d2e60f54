import { isUuid } from "../../lib/uuid.ts";
import { createTenant, deleteTenant, listTenants, updateTenant } from "../../tenants/manage-tenants.ts";
import { isSettings, type Settings } from "../../tenants/tenant-config.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { readGiven } from "../given-file.ts";
import { table } from "../table.ts";

const description = {
  name: { description: "What people know it by.", value: "text" },
  host: {
    description: "A host name of its own, the public one first; without one it lies under /t/<id>.",
    value: "name",
    multiple: true,
  },
  config: {
    description:
      "What it wants otherwise than the server: a file like stile.config.json, or - for standard input.",
    value: "file",
  },
} as const;

export const tenantsList = command({
  name: "tenants list",
  summary: "List tenants with their addresses.",
  options: { json: { description: "As JSON." } },
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
    const rows = all.map((one) => [one.id, one.address ?? "(its settings do not hold any more)", one.name]);
    for (const line of table(["id", "address", "name"], rows)) await cli.print(line);
  },
});

export const tenantsCreate = command({
  name: "tenants create",
  summary: "Make a tenant, and print its id.",
  details:
    "It has the server's configuration, but for what it is given with --config and for what is the default tenant's\nalone: origins and addresses that are allowed, identity providers, issuer and audience, relying party.",
  options: {
    ...description,
    name: { ...description.name, required: true },
    id: { description: "A UUID; by default a new one.", value: "uuid" },
    json: { description: "Id, name and address, as JSON." },
  },
  async run(cli, { name, id, host, config, json }) {
    if (id !== undefined && !isUuid(id)) throw new UsageError(`${id} is not a UUID`);
    const settings = await readSettings(cli.input, config);
    const tenant = await cli.withRuntime((runtime) =>
      createTenant(runtime, {
        name,
        hosts: host,
        settings: settings ?? {},
        ...(id === undefined ? {} : { id: id.toLowerCase() }),
      }),
    );
    const shown = { id: tenant.id, name: name.trim(), address: tenant.config.base_url };
    await cli.print(json ? JSON.stringify(shown) : tenant.id);
  },
});

export const tenantsUpdate = command({
  name: "tenants update",
  summary: "Change a tenant's name, host names or configuration.",
  details:
    "What is not named stays. The file given with --config takes the place of all settings it had before.",
  takes: ["id"],
  options: description,
  async run(cli, { name, host, config }, [id = ""]) {
    if (!isUuid(id)) throw new CommandError(`there is no tenant ${id}`);
    const settings = await readSettings(cli.input, config);
    await cli.withRuntime((runtime) =>
      updateTenant(runtime, id.toLowerCase(), {
        ...(name === undefined ? {} : { name }),
        ...(host.length === 0 ? {} : { hosts: host }),
        ...(settings === undefined ? {} : { settings }),
      }),
    );
  },
});

export const tenantsDelete = command({
  name: "tenants delete",
  summary: "Delete a tenant with everything that is its own.",
  takes: ["id"],
  options: { "with-users": { description: "Also when it has users: they are deleted too." } },
  async run(cli, values, [id = ""]) {
    if (!isUuid(id)) throw new CommandError(`there is no tenant ${id}`);
    await cli.withRuntime((runtime) =>
      deleteTenant(runtime, id.toLowerCase(), { withUsers: values["with-users"] }),
    );
  },
});

async function readSettings(
  input: NodeJS.ReadableStream,
  file: string | undefined,
): Promise<Settings | undefined> {
  if (file === undefined) return undefined;
  const content = await readGiven(file, input);
  try {
    const settings: unknown = JSON.parse(content);
    if (isSettings(settings)) return settings;
  } catch {
    // What was given may hold secrets, which a parser would quote.
    throw new CommandError(`${file} is not JSON`);
  }
  throw new CommandError(`${file} does not hold an object`);
}
