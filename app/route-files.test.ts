import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { servedAddresses, serves } from "#server/http/addresses";

/** A route file: its folder, and the address that it names. */
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => /(?:^|\/)route\.ts$/.test(file))
  .map((file) => {
    const source = readFileSync(join(import.meta.dirname, file), "utf8");
    return { folder: posix.dirname(file), address: /handlersOf\("([^"]+)"\)/.exec(source)?.[1] ?? "" };
  });

/** The address of a folder in the notation of the table; its parameters may have other names. */
const addressOf = (folder: string) =>
  `/${folder === "." ? "" : folder}`
    .replace(/\[+\.\.\.[^\]]+\]+$/, "*")
    .replaceAll("[", "{")
    .replaceAll("]", "}");

const withoutNames = (address: string) => address.replace(/\{[^}]+\}/g, "{}");

/** What answers every path that no other file has. */
const REST = "/*";

test.each(files)("the route file in $folder names the address of its folder", ({ folder, address }) => {
  expect(withoutNames(address)).toBe(withoutNames(addressOf(folder)));
});

test.each(files)("the route file in $folder serves an address of the service", ({ address }) => {
  expect(serves(address)).toBe(true);
});

test("a route file for an address that the service does not have is found", () => {
  const added = ["/sign-in", "/registration/*", "/health", "/health/*"];
  expect(added.filter((address) => !serves(address))).toEqual(["/sign-in", "/registration/*", "/health"]);
});

test.each(servedAddresses())("%s is served by one route file", (path) => {
  const serving = files.filter(({ address }) => address !== REST && serves(address, path));
  expect(serving).toHaveLength(1);
});

test("a route file serves every other path, and answers it as the service does", () => {
  expect(files.filter(({ address }) => address === REST)).toHaveLength(1);
});

test("every route file exports the same methods, and is never answered at build time", () => {
  for (const { folder } of files) {
    const source = readFileSync(join(import.meta.dirname, folder, "route.ts"), "utf8");
    expect(source).toContain("export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf(");
    expect(source).toContain('export const dynamic = "force-dynamic";');
  }
});
