import { checkMailServer } from "../../mail/tenant-mail.ts";
import { uselessSettings } from "../../start/useless-settings.ts";
import { checkWords } from "../../theme/own-words.ts";
import { command } from "../command.ts";

export const configCheck = command({
  name: "config check",
  summary: "Check the configuration.",
  details:
    "Prints OK, or the error that the server would report at its start; warnings go to standard error. No database.",
  async run(cli) {
    const config = cli.config();
    checkMailServer(config);
    checkWords(config);
    for (const line of uselessSettings(config)) cli.printError(`warning: ${line}`);
    await cli.print("OK");
  },
});
