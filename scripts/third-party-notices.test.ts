import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NOTICES_FILE, thirdPartyNotices } from "./third-party-notices.ts";

test("the committed notices match the lock file", () => {
  const root = join(import.meta.dirname, "..");
  const committed = readFileSync(join(root, NOTICES_FILE), "utf8").split("\n");
  const generated = thirdPartyNotices(root).split("\n");
  expect(committed.filter((line, index) => line !== generated[index]).slice(0, 5)).toEqual([]);
  expect(committed.length).toBe(generated.length);
});

describe("thirdPartyNotices", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "notices-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function lock(packages: Record<string, object>): void {
    const named = Object.fromEntries(
      Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry]),
    );
    const dependencies = Object.fromEntries(Object.keys(packages).map((name) => [name, "*"]));
    write("package-lock.json", JSON.stringify({ packages: { "": { dependencies }, ...named } }));
  }

  test("prints one text for packages whose licences differ only in the copyright notice", () => {
    lock({ a: { version: "1.0.0", license: "MIT" }, b: { version: "2.0.0", license: "MIT" } });
    write("node_modules/a/LICENSE", "MIT License\n\nCopyright (c) 2020 Ada\n\nPermission is granted.\n");
    write(
      "node_modules/b/license.md",
      "The MIT License (MIT)\r\n\r\nCopyright 2021 Bo\r\n\r\nPermission is\r\ngranted.",
    );
    const page = thirdPartyNotices(root);
    expect(page).toContain("* a 1.0.0: Copyright (c) 2020 Ada\n* b 2.0.0: Copyright 2021 Bo\n");
    expect(page.match(/Permission is/g)).toHaveLength(1);
  });

  test("lists a package for another platform without reading its folder", () => {
    const packages = {
      "tool-here": { version: "1.0.0", license: "MIT", os: ["linux"] },
      "tool-there": { version: "1.0.0", license: "MIT", os: ["darwin"] },
    };
    lock(packages);
    const absent = thirdPartyNotices(root);
    write("node_modules/tool-here/LICENSE", "Copyright 2020 Ada\n\nPermission is granted.\n");
    expect(thirdPartyNotices(root)).toBe(absent);
    expect(absent).toContain("| tool-there 1.0.0 | MIT |");
  });

  test("lists bundled components, and omits development packages", () => {
    lock({
      a: { version: "1.0.0", license: "MIT" },
      tester: { version: "1.0.0", license: "MIT", dev: true },
    });
    write("node_modules/a/vendor/inner/package.json", JSON.stringify({ name: "inner", license: "MPL-2.0" }));
    const page = thirdPartyNotices(root);
    expect(page).toContain("| inner | a 1.0.0 | MPL-2.0 |");
    expect(page).toContain("| MPL-2.0 | **no** | 1 |");
    expect(page).not.toContain("tester");
  });

  test("rejects an unknown licence, and a package that is not installed", () => {
    lock({ a: { version: "1.0.0", license: "AGPL-3.0-only" } });
    expect(() => thirdPartyNotices(root)).toThrow("node_modules/a is not installed");
    write("node_modules/a/LICENSE", "Text\n");
    expect(() => thirdPartyNotices(root)).toThrow("AGPL-3.0-only");
  });
});
