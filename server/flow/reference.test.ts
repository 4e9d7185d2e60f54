import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { diagram } from "./graph.ts";
import { reference } from "./reference.ts";

const docs = join(import.meta.dirname, "..", "..", "docs");

test.each(Object.entries(reference(loadConfig({}, "/nowhere"))))(
  "docs/reference/%s is what the declarations say; `npm run docs` makes it",
  (name, page) => {
    expect(readFileSync(join(docs, "reference", name), "utf8")).toBe(page);
  },
);

test("the README shows the current diagram, as `npm run docs` draws it", () => {
  expect(readFileSync(join(docs, "..", "README.md"), "utf8")).toContain(diagram("login"));
});
