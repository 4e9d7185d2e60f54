import { expect, test } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { claimWork } from "./claim.ts";
import { openDatabase } from "./client.ts";

const { url } = await openForTests(testDatabase());
const pools = await openForTests(openDatabase(url, 1, () => {}));
const { $client } = pools.claim;
await pools.write.$client.query("create table work (is_claimed boolean not null)");
await pools.write.$client.query("insert into work values (false)");

let hasMoved = false;
const database = { ...pools, hasJustMoved: () => hasMoved };
const statement = {
  name: "claim_of_test",
  text: "update work set is_claimed = true where not is_claimed returning is_claimed",
  values: [],
};
const claimed = async () => (await pools.read.$client.query("select is_claimed from work")).rows;

test("work is not claimed where the pools have just moved to, though the claim began before and waited for a connection", async () => {
  const connection = await $client.connect();
  const claiming = claimWork(database, statement);
  hasMoved = true;
  connection.release();
  expect(await claiming).toEqual([]);
  expect(await claimWork(database, statement)).toEqual([]);
  expect(await claimed()).toEqual([{ is_claimed: false }]);
  hasMoved = false;
  expect(await claimWork(database, statement)).toEqual([{ is_claimed: true }]);
  expect(await claimWork(database, statement)).toEqual([]);
});

test("a claim that fails leaves a connection for the next one", async () => {
  const broken = { ...statement, name: "broken", text: "update nothing set a = 1" };
  await expect(claimWork(database, broken)).rejects.toMatchObject({ code: "42P01" });
  expect(await claimWork(database, statement)).toEqual([]);
});
