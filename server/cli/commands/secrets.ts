import { reseal } from "../../keys/reseal.ts";
import { sealedColumns } from "../../start/sealed-columns.ts";
import { CommandError, command } from "../command.ts";

export const secretsReseal = command({
  name: "secrets reseal",
  summary: "Move everything sealed under the first secret key.",
  details:
    "For a rotation: put a new key in front of SECRET_KEYS, restart the servers, run this, and a day later take the\nold key away; what rests for minutes alone has expired by then. Running it again does no harm.",
  options: { json: { description: "What was moved, as JSON." } },
  async run(cli, { json }) {
    const outcome = await cli.withRuntime(({ database, vault }) => reseal(database, vault, sealedColumns));
    if (json) await cli.print(JSON.stringify(outcome));
    else
      for (const { table, column, moved } of outcome) await cli.print(`${table}.${column}: ${moved} moved`);
    const unknown = [...new Set(outcome.flatMap(({ unknown }) => unknown))];
    if (unknown.length > 0)
      throw new CommandError(
        `some values stay as they are: SECRET_KEYS lacks the key that sealed them (${unknown.join(", ")})`,
      );
  },
});
