import { describe, expect, test } from "vitest";
import { addressesOf } from "./hosts.ts";

describe("an address of a database", () => {
  test.each([
    ["postgres://u:p@one/stile", ["postgres://u:p@one/stile"]],
    [
      "postgres://u:p@one:5433,two,[::1]:5434/stile",
      ["postgres://u:p@one:5433/stile", "postgres://u:p@two/stile", "postgres://u:p@[::1]:5434/stile"],
    ],
    ["postgresql://one,two", ["postgresql://one", "postgresql://two"]],
    [
      "postgres://u@one,two/stile?sslmode=require&target_session_attrs=read-write",
      ["postgres://u@one/stile?sslmode=require", "postgres://u@two/stile?sslmode=require"],
    ],
    ["postgres://one/stile?target_session_attrs=primary", ["postgres://one/stile"]],
    ["postgres://one/stile?options=-c%20jit%3Doff", ["postgres://one/stile?options=-c%20jit%3Doff"]],
    ["postgres://u:a,b@one/stile", ["postgres://u:a,b@one/stile"]],
    ["postgresql://u:p@/stile?host=/cloudsql/p:r:i", ["postgresql://u:p@/stile?host=/cloudsql/p:r:i"]],
    ["postgres://one/stile?target_session_attrs=any", ["postgres://one/stile?target_session_attrs=any"]],
  ])("%s names its servers", (url, addresses) => {
    expect(addressesOf(url)).toEqual(addresses);
  });

  test.each([
    ["postgres://one,,two/stile", "each of its hosts has to be a name or an address, with a port or without"],
    ["postgres://one,t wo/stile", "each of its hosts has to be a name or an address, with a port or without"],
    [
      "postgres://one,two:port/stile",
      "each of its hosts has to be a name or an address, with a port or without",
    ],
    [
      "postgres://one,two/stile?target_session_attrs=standby",
      "target_session_attrs is standby: read-write and primary are supported",
    ],
    [`postgres://${Array.from({ length: 17 }, () => "one").join()}/stile`, "it names more than 16 hosts"],
  ])("%s is refused, with the reason", (url, message) => {
    expect(() => addressesOf(url)).toThrow(message);
  });
});
