import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const [, table = ""] = /\| To add \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(text) ?? [];
const rows = table
  .trimEnd()
  .split("\n")
  .map((row) => row.split(/(?<!\\) ?\| ?/).slice(1, -1));

/** Everything of which others of its kind are added. */
const things = [
  "a state",
  "an action",
  "an error code",
  "a method",
  "an identifier",
  "an identity provider",
  "a language",
  "a mail",
  "an SMS",
  "a channel of messages, beside mails and SMS",
  "an event of webhooks",
  "a hash of imports",
  "a form of the import of users",
  "the look of a page",
  "a rule that ends sessions",
  "a setting",
  "a type of audit entries",
  "a job",
  "a table",
  "an endpoint of the passkey server",
  "an address elsewhere",
  "an operation of the administration interface",
  "a page of the documentation",
  "a room of `server/`",
];

describe("CONTRIBUTING.md", () => {
  test("tells for each thing which files it takes, and what asks for them", () => {
    expect(rows.flatMap(([thing]) => (thing ? [thing] : [])).toSorted()).toEqual(things.toSorted());
    expect(rows.filter((row) => row.length !== 3 || !row[1] || !row[2])).toEqual([]);
  });

  test("names only commands that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = [...text.matchAll(/`npm run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
