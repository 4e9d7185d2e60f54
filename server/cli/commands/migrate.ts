import { command } from "../command.ts";

export const migrate = command({
  name: "migrate",
  summary: "Bring the database up to date.",
  details:
    "Every start does so too; a deployment of several processes does it once, beforehand. Prints OK. Running it\nagain changes nothing.",
  async run(cli) {
    // Whatever opens the database brings it up to date.
    await cli.withRuntime(async () => cli.print("OK"));
  },
});
