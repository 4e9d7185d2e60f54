import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { galleryDeclarations } from "./gallery.ts";

test("the gallery is made of the declarations; `npm run docs` copies them", () => {
  const file = join(import.meta.dirname, "..", "components", "gallery", "declared.json");
  expect(readFileSync(file, "utf8")).toBe(galleryDeclarations());
});
