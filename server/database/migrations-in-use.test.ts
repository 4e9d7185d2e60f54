import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formerRelease } from "../testing/former-release.ts";
import { growingTables } from "../testing/growth.ts";
import { newIndex } from "./index-builds.ts";
import { withoutComments } from "./migration-units.ts";

/** Migrations run while servers of the former release use the database, however long its tables are. */

interface Statement {
  migration: string;
  text: string;
}

const folder = join(import.meta.dirname, "../../db/migrations");
const { entries } = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")) as {
  entries: { tag: string }[];
};
const statementsOf = (tags: string[]): Statement[] =>
  tags.flatMap((migration) =>
    readFileSync(join(folder, `${migration}.sql`), "utf8")
      .split("--> statement-breakpoint")
      .map((text) => ({ migration, text: withoutComments(text) })),
  );

const tags = entries.map(({ tag }) => tag);
const last = tags.indexOf(formerRelease.migration);
const [former, since] = [statementsOf(tags.slice(0, last + 1)), statementsOf(tags.slice(last + 1))];

const longOfFormer = former.flatMap(({ text }) => {
  const name = /^CREATE TABLE "(\w+)"/.exec(text)?.[1] ?? "";
  return growingTables.has(name) ? [name] : [];
});

/** What changes a table without reading its rows, so that its lock is held for a moment. */
const momentary = [
  /^ALTER TABLE "\w+" ADD COLUMN "\w+" [^;]*? DEFAULT (?:true|false|'[^']*'|\d+) NOT NULL;?$/,
  /^ALTER TABLE "\w+" ADD COLUMN "\w+" (?:(?!NOT NULL|DEFAULT|GENERATED)[^;])*;?$/,
  /^ALTER TABLE "\w+" SET \([^;]*\);?$/,
  /^DROP TRIGGER [^;]*;?$/,
];

test("the former release has its long tables among those of this version", () => {
  expect(last).toBeGreaterThan(0);
  expect(longOfFormer).toEqual(expect.arrayContaining(["users", "sessions", "events"]));
});

test("A366 no migration since the former release reads a long table under a lock that writes wait for", () => {
  const changes = since.filter(({ text }) =>
    // What refers to a table reads those that refer, which are new.
    longOfFormer.some((name) =>
      new RegExp(
        `^(?:ALTER TABLE|UPDATE|DELETE FROM|CREATE .*INDEX .* ON|DROP TRIGGER .* ON) "${name}"`,
      ).test(text),
    ),
  );
  expect(changes.length).toBeGreaterThan(10);
  const reading = changes.filter(
    ({ text }) => newIndex(text) === null && !momentary.some((form) => form.test(text)),
  );
  expect(reading).toEqual([]);
});
