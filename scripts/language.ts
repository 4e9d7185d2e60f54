import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `npm run check`: lists words in code and pages that name a person vaguely where the trade has a term: caller, user,
 * visitor, client, owner, sender, attacker. Ends with 1 if there are any.
 */

const root = join(import.meta.dirname, "..");

const vague = /\b(whoever|whomever|whose ?ever|somebody|someone|nobody|anybody|anyone|everybody|everyone)\b/i;

/** The name of the unprivileged account of POSIX systems. */
const systemAccount = /"nobody"/g;

/** Texts for end users have a tone of their own; the other files are generated or are this list. */
const exempt = /^(words\/|db\/migrations\/|scripts\/language\.ts$|THIRD-PARTY-NOTICES\.md$|LICENSE$)/;

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(
    (file) => /\.(ts|tsx|mjs|js|css|md)$/.test(file) && !exempt.test(file) && existsSync(join(root, file)),
  );

for (const file of files) {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    const found = vague.exec(line.replace(systemAccount, ""));
    if (!found) continue;
    process.stderr.write(`${file}:${index + 1}: name the person by a term of the trade, not "${found[0]}"\n`);
    process.exitCode = 1;
  }
}
