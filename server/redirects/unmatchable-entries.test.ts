import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { unmatchableRedirects } from "./unmatchable-entries.ts";

const linesFor = (entries: string[]) =>
  unmatchableRedirects(
    loadConfig({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: JSON.stringify(entries) }, import.meta.dirname),
  );

test.each([
  "https://app.example/callback",
  "https://APP.example/callback?tab=a",
  "https://app.example",
  "https://app.example/*",
  "https://app.example/**",
  "https://app.example/**?*",
  "https://app.example**",
  "https://shop-*.app.example/cb",
  "https://shop.**.app.example/cb-*",
  "http://localhost:*/cb",
  "http://localhost:*/**",
  "http://10.*.0.1:4000/cb*",
  "https://app.example/%7E*",
])("%s can match", (entry) => {
  expect(linesFor([entry])).toEqual([]);
});

test.each([
  ["has a fragment", "https://app.example/#/callback"],
  ["has a fragment after a wildcard", "https://app.example/**#done"],
  ["has credentials", "https://user@app.example/callback"],
  ["has a wildcard at the end of its host", "https://app.example*/callback"],
  ["has a wildcard in the last part of an IP address", "http://10.0.0.*:4000/callback"],
  ["has a port that browsers leave out", "https://app.example:443/*"],
  ["has a path that browsers shorten", "https://app.example/**/../callback"],
  ["has letters that browsers encode", "https://app.example/straße/*"],
  ["has an encoded slash", "https://app.example/a%2Fb/*"],
  ["has a space", "https://app.example/a b"],
])("an entry that %s is reported", (_, entry) => {
  expect(linesFor([entry])).toEqual([
    `STILE_HOSTED_ALLOWED_REDIRECT_URLS has the entry ${entry}, which no address can match`,
  ]);
});

test("names the setting of each list", () => {
  const entry = "https://app.example/#x";
  const settings = ["HOSTED", "THIRD_PARTY", "SAML"].map((one) => `STILE_${one}_ALLOWED_REDIRECT_URLS`);
  const config = loadConfig(
    Object.fromEntries(settings.map((setting) => [setting, `${entry},https://app.example/`])),
    import.meta.dirname,
  );
  expect(unmatchableRedirects(config).map((line) => line.split(" ")[0])).toEqual(settings);
});
