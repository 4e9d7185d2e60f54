import { checkMailServer } from "../../mail/tenant-mail.ts";
import { command } from "../command.ts";

export const configCheck = command({
  name: "config check",
  summary: "Check the configuration.",
  details: "Prints OK, or the error that the server would report at its start. Does not access the database.",
  async run(cli) {
    checkMailServer(cli.config());
    await cli.print("OK");
  },
});
