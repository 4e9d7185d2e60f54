import {
  changeOpenidClient,
  deleteOpenidClient,
  listOpenidClients,
  type OpenidClient,
  renewOpenidSecret,
} from "../../tenants/openid-clients.ts";
import { atTenant } from "../at-tenant.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { type Cli, command } from "../command.ts";
import { jsonOption, tenantOption } from "../options.ts";
import { settingsIn, withSource } from "../settings-file.ts";
import { printTable } from "../table.ts";

/** Clients of the OpenID providers of tenants. Those of the default tenant are configured. */

const ofTenant = { ...tenantOption, value: "uuid", required: true } as const;

const settingsOption = {
  description: "Settings of the client, as in openid.clients: a file, or - for standard input.",
  value: "file",
  required: true,
} as const;

const work = <Result>(
  cli: Pick<Cli, "withRuntime">,
  tenant: string,
  act: (runtime: CliRuntime, tenantId: string) => Promise<Result>,
) => atTenant(cli, tenant, (at) => act(at.runtime, at.tenant.id));

export const clientsList = command({
  name: "clients list",
  summary: "List the clients of an OpenID provider, without their secrets.",
  options: { tenant: tenantOption, json: jsonOption },
  async run(cli, { tenant, json }) {
    const all = await atTenant(cli, tenant, (at) => listOpenidClients(at.runtime, at.tenant.id));
    if (json) return cli.print(JSON.stringify(all));
    await printTable(cli, all, {
      id: "id",
      authentication: authenticationOf,
      name: ({ settings }) => String(settings.name ?? ""),
    });
  },
});

function authenticationOf({ settings, secrets }: OpenidClient): string {
  if (settings.jwks !== undefined) return "private_key_jwt";
  return secrets.length > 0 ? "client_secret_basic" : "none";
}

export const clientsCreate = command({
  name: "clients create",
  summary: "Add a client to a tenant's OpenID provider, and print its id.",
  details:
    'Without secret and jwks in its settings it is a public client; "clients secret" makes a secret for it.',
  takes: ["id"],
  options: { tenant: ofTenant, settings: settingsOption },
  async run(cli, { tenant, settings: file }, [id = ""]) {
    const patch = await settingsIn(cli.input, file);
    const change = { patch, create: true };
    await withSource("--settings", file, () =>
      work(cli, tenant, (runtime, at) => changeOpenidClient(runtime, at, id, change)),
    );
    await cli.print(id);
  },
});

export const clientsUpdate = command({
  name: "clients update",
  summary: "Change settings of a client.",
  details: "The file is a JSON Merge Patch (RFC 7396): null removes a setting.",
  takes: ["id"],
  options: { tenant: ofTenant, settings: settingsOption },
  async run(cli, { tenant, settings: file }, [id = ""]) {
    const patch = await settingsIn(cli.input, file);
    await withSource("--settings", file, () =>
      work(cli, tenant, (runtime, at) => changeOpenidClient(runtime, at, id, { patch })),
    );
  },
});

export const clientsSecret = command({
  name: "clients secret",
  summary: "Make a new secret for a client, and print it.",
  details:
    "The former one authenticates the client no more. It is stored sealed and cannot be printed again.",
  takes: ["id"],
  options: { tenant: ofTenant },
  async run(cli, { tenant }, [id = ""]) {
    const { secret } = await work(cli, tenant, (runtime, at) => renewOpenidSecret(runtime, at, id));
    await cli.print(secret);
  },
});

export const clientsDelete = command({
  name: "clients delete",
  summary: "Delete a client, whose tokens are then of no use.",
  takes: ["id"],
  options: { tenant: ofTenant },
  async run(cli, { tenant }, [id = ""]) {
    await work(cli, tenant, (runtime, at) => deleteOpenidClient(runtime, at, id));
  },
});
