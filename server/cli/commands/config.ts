import { checkMailServer } from "../../mail/tenant-mail.ts";
import { command } from "../command.ts";

export const configCheck = command({
  name: "config check",
  summary: "Check the configuration, as a start would.",
  details: "Prints OK, or the one line that a start would end with. Asks no database.",
  async run(cli) {
    checkMailServer(cli.config());
    await cli.print("OK");
  },
});
