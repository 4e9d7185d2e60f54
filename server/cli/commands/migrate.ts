import { command } from "../command.ts";

export const migrate = command({
  name: "migrate",
  summary: "Migrate the database.",
  details:
    "Every start of the server migrates too. For a deployment of several processes, run this once before. Prints OK.\nRunning it again changes nothing.",
  async run(cli) {
    // Opening the database migrates it.
    await cli.withRuntime(async () => cli.print("OK"));
  },
});
