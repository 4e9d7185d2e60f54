import { ConfigError } from "../../config/errors.ts";
import type { Config } from "../../config/schema.ts";
import { type DryRun, dryRun, listAffected } from "../../dry-run/dry-run.ts";
import type { ConfigChange, Effect } from "../../dry-run/effects.ts";
import { checkMailServer } from "../../mail/tenant-mail.ts";
import { uselessSettings } from "../../start/useless-settings.ts";
import { listTenants } from "../../tenants/manage-tenants.ts";
import { type TenantRow, tenantOf } from "../../tenants/tenants.ts";
import { checkWords } from "../../theme/own-words.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { type Cli, command, UsageError } from "../command.ts";
import { createPrivateFile } from "../files.ts";
import { settingsIn, withSource } from "../settings-file.ts";

export const configCheck = command({
  name: "config check",
  summary: "Check the configuration.",
  details: [
    "Prints OK, or the error that the server would report at its start; warnings go to standard error. Without",
    "--against-database no database is used. With it, warnings tell which users of each tenant cannot sign in with this",
    "configuration, how many, and what decides that. With --former too, they tell what the change from that configuration",
    "does: who could sign in and no longer can, who is asked for a second factor, which flows under way it affects. The",
    "environment counts for both. --export writes a line of JSON for each user. Both need --against-database.",
  ].join("\n"),
  options: {
    "against-database": { description: "Warn of users who cannot sign in with this configuration." },
    former: {
      description: "The stile.config.json before the change, or - for standard input.",
      value: "file",
    },
    export: {
      description: "A new file for the users who cannot sign in; with --former, for those who no longer can.",
      value: "file",
    },
  },
  async run(cli, { "against-database": againstDatabase, former, export: file }) {
    if (!againstDatabase && (former ?? file) !== undefined)
      throw new UsageError("--former and --export need --against-database");
    const config = cli.config();
    checkMailServer(config);
    checkWords(config);
    for (const line of uselessSettings(config)) cli.printError(`warning: ${line}`);
    if (againstDatabase) {
      const before =
        former === undefined
          ? null
          : await withSource("--former", former, async () => cli.config(await settingsIn(cli.input, former)));
      await cli.withRuntime((runtime) => checkUsers(cli, runtime, { before, file }));
    }
    await cli.print("OK");
  },
});

/** @param options `before`: the former configuration of the server; null to judge the present one alone */
async function checkUsers(
  cli: Cli,
  runtime: CliRuntime,
  { before, file }: { before: Config | null; file: string | undefined },
): Promise<void> {
  const { read } = runtime.database;
  const output = file === undefined ? null : await createPrivateFile(file);
  try {
    for (const { row, tenant } of await listTenants(runtime)) {
      const of = `tenant ${row.id} (${row.name})`;
      if (!tenant) {
        cli.printError(`warning: the settings of ${of} are invalid`);
        continue;
      }
      const former = before ? formerConfig(runtime, before, row) : tenant.config;
      const change = { tenantId: row.id, former, changed: tenant.config };
      let parts = 0;
      const found = await dryRun(read, change, {
        onProgress(users) {
          // A small tenant is read at once, and says nothing.
          if (parts++ > 0) cli.printError(`${users} users of ${of} are read`);
        },
      });
      for (const line of warningsOf(found, of)) cli.printError(`warning: ${line}`);
      if (output)
        await exportLockedOut(output, read, change, found, before ? "locked_out" : "locked_out_before");
    }
  } finally {
    await output?.close();
  }
}

/** The configuration of a tenant under the former one of the server; null if its settings are invalid there. */
function formerConfig(runtime: CliRuntime, before: Config, row: TenantRow): Config | null {
  if (row.id === runtime.tenant.id) return before;
  try {
    return tenantOf({ id: runtime.tenant.id, config: before }, runtime.vault, row).config;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

const effectTexts: Record<Effect, string> = {
  locked_out: "could sign in and no longer can",
  locked_out_before: "cannot sign in",
  regains_access: "could not sign in and can",
  second_factor_asked: "are asked for a second factor and were not",
  second_factor_not_asked: "are no longer asked for a second factor",
  set_up_asked: "are asked to set up a second factor and were not",
  set_up_not_asked: "are no longer asked to set up a second factor",
};

function warningsOf({ users, effects, flows }: DryRun, of: string): string[] {
  const ofUsers = Object.entries(effectTexts).flatMap(([effect, text]) =>
    effects[effect as Effect].map(
      ({ count, reasons, examples }) =>
        `${count} of ${users} users of ${of} ${text}: ${reasons.join(" ")} Among them: ${examples.join(", ")}`,
    ),
  );
  const ofFlows = flows.map(({ type, state, count, ends, withdrawn }) => {
    const actions = withdrawn.map(({ action }) => `\`${action}\``).join(", ");
    const end = ends ? ", and cannot go on" : "";
    return `${count} flows under way of ${of}, of the type ${type} in the state ${state}, lose ${actions}${end}`;
  });
  return [...ofUsers, ...ofFlows];
}

async function exportLockedOut(
  output: { write(text: string): Promise<void> },
  read: CliRuntime["database"]["read"],
  change: ConfigChange,
  { effects }: DryRun,
  effect: Effect,
): Promise<void> {
  const keys = effects[effect].flatMap((group) => group.keys);
  if (keys.length === 0) return;
  for await (const users of listAffected(read, change, keys)) {
    const lines = users.map(({ id }) => JSON.stringify({ tenant_id: change.tenantId, user_id: id }));
    if (lines.length > 0) await output.write(lines.join("\n"));
  }
}
