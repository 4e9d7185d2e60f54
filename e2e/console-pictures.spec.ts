import { expect, test } from "@playwright/test";
import type { ConsoleThings } from "./console-data.ts";
import { missingPictures, picturesOf } from "./console-pictures.ts";

/** The pictures of the console, which `npm run screenshots:console` takes and checks with axe. */

const things: ConsoleThings = {
  user: "user",
  colleague: "colleague",
  flow: "flow",
  webhook: "webhook",
  application: "application",
  unlisted: "unlisted",
  imports: { checked: "checked", cutOff: "cut-off" },
  tenant: {
    id: "tenant",
    application: "application",
    provider: "provider",
    samlProvider: "saml-provider",
    domain: "harbour.example",
    changeMeanwhile: async () => {},
  },
};

test("each page of the console and each place that opens a window has a picture", () => {
  expect(missingPictures(things)).toEqual([]);
});

test("no two pictures have the same name", () => {
  const names = picturesOf("home", things).map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
