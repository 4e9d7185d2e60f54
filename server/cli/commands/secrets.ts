import { audit } from "../../audit/audit.ts";
import { currentTime } from "../../database/current-time.ts";
import { countByKey, type KeyCount } from "../../keys/key-status.ts";
import { reseal } from "../../keys/reseal.ts";
import { atTenant } from "../at-tenant.ts";
import { CommandError, command } from "../command.ts";
import { printTable } from "../table.ts";

export const secretsReseal = command({
  name: "secrets reseal",
  summary: "Seal all stored secrets with the first secret key.",
  details:
    "To rotate: add a new key second in SECRET_KEYS on every server, then put it first on every server, run this\ncommand, and remove the old key a day later, when `stile secrets status` counts nothing under it.\nRunning it again changes nothing.",
  options: { json: { description: "The number of changed values, as JSON." } },
  async run(cli, { json }) {
    const outcome = await atTenant(cli, undefined, async (at) => {
      const { database, vault } = at.runtime;
      const resealed = await reseal(database, vault);
      const details = {
        key: vault.keyIds[0] ?? null,
        moved: resealed.reduce((total, { moved }) => total + moved, 0),
      };
      const now = await currentTime(at.runtime);
      await database.write.transaction(audit({ ...at, now }, "secrets_resealed", details));
      return resealed;
    });
    if (json) await cli.print(JSON.stringify(outcome));
    else
      for (const { table, column, moved } of outcome) await cli.print(`${table}.${column}: ${moved} moved`);
    const broken = outcome
      .filter(({ broken }) => broken > 0)
      .map(({ table, column }) => `${table}.${column}`);
    if (broken.length > 0)
      throw new CommandError(`some values were not changed: their seals are broken (${broken.join(", ")})`);
    const unknown = [...new Set(outcome.flatMap(({ unknown }) => unknown))];
    if (unknown.length > 0)
      throw new CommandError(
        `some values were not changed: SECRET_KEYS lacks the key that sealed them (${unknown.join(", ")})`,
      );
  },
});

/** What becomes of the values under an old key. */
const afterwards: Record<KeyCount["after"], string> = {
  reseal: "moved by `secrets reseal`",
  expiry: "gone within a day",
  replacement: "until users replace them",
};

export const secretsStatus = command({
  name: "secrets status",
  summary: "Count the stored values under each secret key.",
  details:
    "A key may be removed from SECRET_KEYS when no value is under it. Cookies and jobs are not counted; they end within\na day. Fails if there are values under a key that is not configured.",
  options: { json: { description: "The keys and the numbers, as JSON." } },
  async run(cli, { json }) {
    const { keyIds, counts } = await cli.withRuntime(async ({ database, vault }) => ({
      keyIds: vault.keyIds,
      counts: await countByKey(database, vault),
    }));
    if (json) await cli.print(JSON.stringify({ keys: keyIds, values: counts }));
    else
      await printTable(cli, counts, {
        value: "holds",
        key: ({ key, place }) =>
          place === null ? (key === null ? "not named" : `unknown (${key})`) : `${place} (${key})`,
        number: "count",
        "under an old key": ({ place, after }) => (place === 1 ? "" : afterwards[after]),
      });
    const unknown = [...new Set(counts.flatMap(({ key, place }) => (key && place === null ? [key] : [])))];
    if (unknown.length > 0)
      throw new CommandError(`SECRET_KEYS lacks keys that stored values are under (${unknown.join(", ")})`);
  },
});
