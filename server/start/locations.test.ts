import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { writeMmdb } from "../testing/mmdb.ts";
import { folderForTests } from "../testing/open-for-tests.ts";
import { loadLocations } from "./locations.ts";

const folder = folderForTests("locations");

const database = writeMmdb({ "192.0.2.0/24": { country: { names: { en: "Switzerland" } } } });
const load = (file: string) => loadLocations(loadConfig({ STILE_AUTHENTICATOR_LOCATION_FILE: file }, folder));

test("there are no locations by default", async () => {
  expect(await loadLocations(loadConfig({}, folder))).toBeNull();
});

test("authenticator.location_file is read from the folder of the configuration, at the start alone", async () => {
  const file = join(folder, "places.mmdb");
  writeFileSync(file, database);
  const locations = await load("places.mmdb");
  writeFileSync(file, "");
  expect(locations?.find("192.0.2.1")).toEqual({ country: "Switzerland" });
});

test("the start fails without the file, and with a folder in its place", async () => {
  await expect(load("missing.mmdb")).rejects.toThrow(
    /^authenticator\.location_file cannot be read: .*missing\.mmdb \(ENOENT\)$/,
  );
  await expect(load(".")).rejects.toThrow(/\(EISDIR\)$/);
});

test("the start fails with a broken file", async () => {
  writeFileSync(join(folder, "broken.mmdb"), database.subarray(0, database.length / 2));
  const error = await load("broken.mmdb").catch((error: unknown) => error);
  expect(error).toBeInstanceOf(StartError);
  expect(String(error)).toMatch(
    /authenticator\.location_file is not a complete MaxMind database: .*broken\.mmdb$/,
  );
});
