import { expect, test } from "vitest";
import { placeOf } from "./belongings.ts";

const nowhere = () => null;

test("a place is the browser in words, and the network of the address", () => {
  const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const firefox = { user_agent: "Linux (Firefox)" };
  expect(placeOf({ userAgent, ipAddress: "192.0.2.77" }, nowhere)).toEqual({
    ...firefox,
    ip_address: "192.0.2.x",
  });
  expect(placeOf({ userAgent, ipAddress: "2001:db8:1:2::3" }, nowhere)).toEqual({
    ...firefox,
    ip_address: "2001:db8:1:…",
  });
});

test("an unknown program is left to the words of the page", () => {
  expect(placeOf({ userAgent: "curl/8.5.0", ipAddress: null }, nowhere)).toEqual({});
});
