import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { reference } from "./reference.ts";

const docs = join(import.meta.dirname, "..", "..", "docs");

test.each(Object.entries(reference(loadConfig({}, "/nowhere"))))(
  "docs/reference/%s matches the declarations; `npm run docs` generates it",
  (name, page) => {
    expect(readFileSync(join(docs, "reference", name), "utf8")).toBe(page);
  },
);
