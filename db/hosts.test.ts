import { sql } from "drizzle-orm";
import { afterEach, describe, expect, inject, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { postgresProxy } from "../server/testing/postgres-proxy.ts";
import { severableProxy } from "../server/testing/severable-proxy.ts";
import { openDatabase } from "./client.ts";
import { addressesOf, DatabaseHosts } from "./hosts.ts";

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

describe("while the server in use hangs", () => {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <One extends { close(): Promise<void> }>(one: One): One => {
    opened.push(one);
    return one;
  };

  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  });

  const both = (one: { url: string }, other: { url: string }) =>
    one.url.replace(/@([^/]+)/, `@$1,${new URL(other.url).host}`);

  test("a connection that is being opened to it is ended when another one is used", async () => {
    const { ownerUrl } = inject("postgres");
    const [former, next] = [keep(await severableProxy(ownerUrl)), keep(await severableProxy(ownerUrl))];
    const hosts = new DatabaseHosts(both(former, next));
    const hour = 3_600_000;
    const database = keep(openDatabase(hosts, 1, () => {}, true, hour));
    former.sever();
    database.watch(() => {});
    const hanging = database.write.execute(sql`select 1`);
    await expect(hanging).rejects.toThrow();
    expect(hosts.url).toBe(next.url);
    expect((await database.write.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
  });

  test("the others are asked again and again without waiting for it", async () => {
    const { ownerUrl } = inject("postgres");
    const asked = { hanging: 0, other: 0 };
    let otherAtSecond: number | undefined;
    const hanging = keep(
      await postgresProxy(ownerUrl, () => {
        asked.hanging += 1;
        // The first question is that of the watch, and the second one the first of a search.
        if (asked.hanging === 3) otherAtSecond = asked.other;
      }),
    );
    const other = keep(
      await postgresProxy(ownerUrl, (client) => {
        asked.other += 1;
        client.destroy();
      }),
    );
    const hosts = new DatabaseHosts(both(hanging, other));
    hosts.watch();
    await eventually(() => expect(asked.hanging).toBeGreaterThanOrEqual(3));
    hosts.end();
    expect(otherAtSecond).toBeGreaterThan(2);
  });
});
