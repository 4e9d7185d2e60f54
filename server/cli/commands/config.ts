import { findLockedOut } from "../../account/locked-out.ts";
import { checkMailServer } from "../../mail/tenant-mail.ts";
import { uselessSettings } from "../../start/useless-settings.ts";
import { listTenants } from "../../tenants/manage-tenants.ts";
import { checkWords } from "../../theme/own-words.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { type Cli, command } from "../command.ts";

export const configCheck = command({
  name: "config check",
  summary: "Check the configuration.",
  details: [
    "Prints OK, or the error that the server would report at its start; warnings go to standard error. Without",
    "--against-database no database is used. With it, warnings tell which users of each tenant cannot sign in with this",
    "configuration, how many, and what decides that; one statement for each tenant reads its users.",
  ].join("\n"),
  options: {
    "against-database": { description: "Warn of users who cannot sign in with this configuration." },
  },
  async run(cli, values) {
    const config = cli.config();
    checkMailServer(config);
    checkWords(config);
    for (const line of uselessSettings(config)) cli.printError(`warning: ${line}`);
    if (values["against-database"]) await cli.withRuntime((runtime) => warnOfLockedOut(cli, runtime));
    await cli.print("OK");
  },
});

async function warnOfLockedOut(cli: Cli, runtime: CliRuntime): Promise<void> {
  for (const { row, tenant } of await listTenants(runtime)) {
    if (!tenant) {
      cli.printError(`warning: the settings of tenant ${row.id} (${row.name}) are invalid`);
      continue;
    }
    const { users, lockedOut } = await findLockedOut(runtime.database.read, tenant);
    for (const { count, reasons, examples } of lockedOut)
      cli.printError(
        `warning: ${count} of ${users} users of tenant ${row.id} (${row.name}) cannot sign in: ${reasons.join(" ")} Among them: ${examples.join(", ")}`,
      );
  }
}
