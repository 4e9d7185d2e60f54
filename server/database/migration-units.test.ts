import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unitsOf } from "./migration-units.ts";

test("each statement is a unit of its own", () => {
  const statements = ['DROP INDEX "a";', 'CREATE INDEX "a" ON "flows" ("id");'];
  expect(unitsOf(statements)).toEqual(statements.map((statement) => [statement]));
});

test("a view is never missing, and what lies between its forms comes before them", () => {
  const drop = 'DROP VIEW "public"."facts";';
  const add = '\nALTER TABLE "users" ADD COLUMN "language" text;';
  const create = '\nCREATE VIEW "public"."facts" AS (select 1);';
  const refer = '\nALTER TABLE "numbers" ADD CONSTRAINT "owner" FOREIGN KEY ("id") REFERENCES "users"("id");';
  expect(unitsOf([drop, add, refer, create])).toEqual([[add], [refer], [drop, create]]);
});

test("what needs the view to be gone stays between its forms", () => {
  const statements = [
    'DROP VIEW "public"."facts";',
    'ALTER TABLE "users" DROP COLUMN "language";',
    'CREATE VIEW "public"."facts" AS (select 1);',
  ];
  expect(unitsOf(statements)).toEqual([statements]);
});

test("a constraint is never missing", () => {
  const statements = [
    'ALTER TABLE "a" DROP CONSTRAINT "a_pkey";',
    '\nALTER TABLE "a" ADD CONSTRAINT "a_pkey" PRIMARY KEY ("id");',
  ];
  expect(unitsOf(statements)).toEqual([statements]);
});

test("rows are changed under a lock of their table", () => {
  const change = '-- Why.\nUPDATE "flows" SET "sealed_payload" = NULL;';
  expect(unitsOf([change])).toEqual([['LOCK TABLE "flows" IN SHARE ROW EXCLUSIVE MODE', change]]);
});

test("every statement of every migration is in one unit", () => {
  const folder = join(import.meta.dirname, "../../db/migrations");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".sql"))) {
    const statements = readFileSync(join(folder, file), "utf8").split("--> statement-breakpoint");
    const inUnits = unitsOf(statements)
      .flat()
      .filter((statement) => !statement.startsWith("LOCK TABLE"));
    expect(inUnits.toSorted()).toEqual(statements.toSorted());
  }
});
