import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");

/** The first release that has a site. */
const FIRST = "0.4.0";

const isBefore = (one: string, other: string) => one.localeCompare(other, undefined, { numeric: true }) < 0;

/** The releases that have a site, newest first. */
const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) /gm)]
  .map(([, version = ""]) => version)
  .filter((version) => !isBefore(version, FIRST));

/** Where the site is published. */
const site = new URL(process.env.DOCS_SITE ?? "http://localhost:4173/");

/** The release that is built; in development none. */
const version = process.env.DOCS_VERSION ?? "";

const pathOf = (name: string) => new URL(name === "" ? "./" : `./${name}/`, site);

/** The path below which this version is published: that of the site in development, below it for each release. */
export const base = pathOf(version).pathname;

/** The choice between versions. */
export const versions = {
  text: version === "" ? "In development" : version,
  items: ["", ...released].map((name) => ({
    text: name === "" ? "In development" : name,
    link: pathOf(name).href,
    target: "_self",
  })),
};
