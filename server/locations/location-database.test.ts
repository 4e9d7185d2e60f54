import { describe, expect, test, vi } from "vitest";
import { type MmdbValue, writeMmdb } from "../testing/mmdb.ts";
import { type Locations, locate } from "./location.ts";
import { readLocations } from "./location-database.ts";

const exeter = {
  city: { geoname_id: 2649808, names: { de: "Exeter", en: "Exeter" } },
  country: { iso_code: "GB", names: { de: "Vereinigtes Königreich", en: "United Kingdom" } },
  location: { time_zone: "Europe/London", accuracy_radius: 20 },
  subdivisions: [
    { iso_code: "ENG", names: { en: "England" } },
    { iso_code: "DEV", names: { en: "Devon" } },
  ],
  traits: { is_anycast: false },
};
const inExeter = { country: "United Kingdom", region: "England", city: "Exeter" };
const zurich = { country: { iso_code: "CH", names: { en: "Switzerland", "zh-CN": "瑞士" } } };

const networks = {
  "192.0.2.0/25": exeter,
  "203.0.113.7/32": zurich,
  "2001:db8:1::/48": exeter,
  "2001:db8:2::8/127": zurich,
};

function databaseOf(...written: Parameters<typeof writeMmdb>): Locations {
  const read = readLocations(writeMmdb(...written));
  if (!read.ok) throw new Error(read.reason);
  return read.locations;
}
const oneRecord = (record: MmdbValue) =>
  databaseOf({ "192.0.2.0/24": record, "203.0.113.0/24": zurich }).find("192.0.2.1");

describe.each([24, 28, 32] as const)("a database with records of %i bits", (recordSize) => {
  const locations = databaseOf(networks, { recordSize });

  test.each([
    ["192.0.2.0", inExeter],
    ["192.0.2.127", inExeter],
    ["192.0.2.1:4711", inExeter],
    ["::ffff:192.0.2.9", inExeter],
    ["203.0.113.7", { country: "Switzerland" }],
    ["2001:db8:1::1", inExeter],
    ["2001:DB8:1:ffff:0:0:0:1", inExeter],
    ["[2001:db8:1::1]:443", inExeter],
    ["2001:db8:2::9", { country: "Switzerland" }],
  ])("knows the place of %s", (address, place) => {
    expect(locations.find(address)).toEqual(place);
  });

  test.each([
    "192.0.2.128",
    "203.0.113.8",
    "198.51.100.1",
    "2001:db8:2::a",
    "2001:db8:3::1",
    "10.0.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "::1",
    "fd00::1",
    "fe80::1%eth0",
    "unknown",
    "",
    "192.0.2",
    "192.0.2.1, 10.0.0.1",
    "\0",
    "😀".repeat(60),
  ])("does not know the place of %j", (address) => {
    expect(locations.find(address)).toBeNull();
  });
});

test("a database of IPv4 alone knows no IPv6 address", () => {
  const locations = databaseOf({ "0.0.0.0/1": exeter, "192.0.2.0/24": zurich }, { ipVersion: 4 });
  expect(locations.find("192.0.2.5")).toEqual({ country: "Switzerland" });
  expect(locations.find("9.9.9.9")).toEqual(inExeter);
  expect(locations.find("::ffff:9.9.9.9")).toEqual(inExeter);
  expect(locations.find("::9")).toBeNull();
  expect(locations.find("2001:db8:1::1")).toBeNull();
});

describe("a record", () => {
  test("has codes in place of English names that are missing", () => {
    expect(
      oneRecord({ country: { iso_code: "CH" }, subdivisions: [{ iso_code: "ZH", names: { de: "Zürich" } }] }),
    ).toEqual({ country: "CH", region: "ZH" });
  });

  test.each<[string, MmdbValue]>([
    ["of another database", { autonomous_system_number: 64_496 }],
    ["with texts for objects", { country: "Switzerland" }],
    ["with numbers for names", { country: { names: { en: 7 } } }],
    ["with a name that is too long", { country: { names: { en: "x".repeat(300) } } }],
    ["with NUL", { city: { names: { en: "a\0" } } }],
    ["that is a text", "Switzerland"],
    ["that is empty", {}],
  ])("%s is no place", (_, record) => {
    expect(oneRecord(record)).toBeNull();
  });
});

describe("a file", () => {
  const whole = writeMmdb(networks);
  const metadata = whole.lastIndexOf(Buffer.from("MaxMind.com")) - 3;

  test.each<[string, Buffer]>([
    ["is empty", Buffer.alloc(0)],
    ["is a text", Buffer.from("country,region,city\n".repeat(100))],
    ["is compressed", Buffer.from("1f8b0800000000000003", "hex")],
    ["lacks its end", whole.subarray(0, metadata)],
    ["ends within its metadata", whole.subarray(0, metadata + 40)],
    ["lacks a part of its tree", Buffer.concat([whole.subarray(600), Buffer.alloc(0)])],
    ["consists of metadata alone", whole.subarray(metadata)],
    [
      "states another version",
      Buffer.concat([whole.subarray(0, metadata), version3(whole.subarray(metadata))]),
    ],
  ])("that %s is rejected", (_, file) => {
    expect(readLocations(file)).toEqual({ ok: false, reason: "is not a complete MaxMind database" });
  });

  test.each<[string, Record<string, MmdbValue>]>([
    ["no records", {}],
    ["records of another form", { "192.0.2.0/24": { country_code: "GB", city: "Exeter" } }],
    ["records of another database", { "2001:db8::/32": { autonomous_system_number: 64_496 } }],
  ])("with %s is rejected", (_, records) => {
    expect(readLocations(writeMmdb(records))).toEqual({
      ok: false,
      reason: "has no places in the form of MaxMind's databases City and Country",
    });
  });

  test.each([4, 6] as const)("whose first records are no places is accepted, with IPv%i", (ipVersion) => {
    const empty = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`10.0.${at}.0/24`, {}]));
    expect(databaseOf({ ...empty, "192.0.2.0/24": exeter }, { ipVersion }).find("192.0.2.1")).toEqual(
      inExeter,
    );
  });

  test("with a damaged record is logged, and the place is not known", () => {
    const damaged = Buffer.from(whole);
    // The record of Switzerland becomes a map of 28 members whose first name is a pointer beyond the file.
    const at =
      damaged.indexOf(Buffer.from("Switzerland")) - Buffer.from("..country..iso_code.CH.names..en.").length;
    Buffer.from("fc3fffffff", "hex").copy(damaged, at);
    const read = readLocations(damaged);
    const locations = read.ok ? read.locations : null;
    const warn = vi.fn();
    expect(read.ok).toBe(true);
    expect(locate({ locations, log: { warn } }, "203.0.113.7")).toBeNull();
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.anything(),
      "a record of authenticator.location_file is damaged",
    );
  });
});

/** The metadata with another major version. */
function version3(metadata: Buffer): Buffer {
  const name = Buffer.from("binary_format_major_version");
  const changed = Buffer.from(metadata);
  changed[metadata.indexOf(name) + name.length + 4] = 3;
  return changed;
}
