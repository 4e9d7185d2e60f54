import { reseal } from "../../keys/reseal.ts";
import { sealedColumns } from "../../start/sealed-columns.ts";
import { CommandError, command } from "../command.ts";

export const secretsReseal = command({
  name: "secrets reseal",
  summary: "Seal all stored secrets with the first secret key.",
  details:
    "To rotate: put a new key first in SECRET_KEYS, restart the servers, run this command, and remove the old key\na day later, when short-lived values have expired. Running it again changes nothing.",
  options: { json: { description: "The number of changed values, as JSON." } },
  async run(cli, { json }) {
    const outcome = await cli.withRuntime(({ database, vault }) => reseal(database, vault, sealedColumns));
    if (json) await cli.print(JSON.stringify(outcome));
    else
      for (const { table, column, moved } of outcome) await cli.print(`${table}.${column}: ${moved} moved`);
    const unknown = [...new Set(outcome.flatMap(({ unknown }) => unknown))];
    if (unknown.length > 0)
      throw new CommandError(
        `some values were not changed: SECRET_KEYS lacks the key that sealed them (${unknown.join(", ")})`,
      );
  },
});
