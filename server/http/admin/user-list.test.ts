import { describe, expect, test } from "vitest";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

const names = ["ada", "bea", "cleo", "dora", "e_ma"];
const ids: string[] = [];

for (const [index, name] of names.entries()) {
  const { body } = await call("POST", "/users", {
    username: `${name}_${index}`,
    emails: [
      { address: `${name}@example.com`, is_primary: true, is_verified: true },
      { address: `second+${name}@other.example`, is_primary: false, is_verified: false },
    ],
    created_at: `2020-01-0${index + 1}T00:00:00Z`,
  });
  ids.push(body.id);
}

const list = async (query: string) => {
  const { status, body, headers } = await call("GET", `/users${query}`);
  expect(status).toBe(200);
  return {
    found: body.map(({ id }: { id: string }) => names[ids.indexOf(id)]),
    total: headers.get("x-total-count"),
    link: headers.get("link") ?? "",
  };
};

describe("the list of users", () => {
  test("has the newest first, or last, in pages", async () => {
    expect(await list("")).toMatchObject({ found: names.toReversed(), total: "5" });
    expect((await list("?sort_direction=asc")).found).toEqual(names);
    const second = await list("?page=2&per_page=2");
    expect(second).toMatchObject({ found: ["cleo", "bea"], total: "5" });
    const page = (number: number) => `<http://localhost:3000/admin/users?page=${number}&per_page=2>`;
    expect(second.link).toBe(
      `${page(1)}; rel="first", ${page(3)}; rel="last", ${page(3)}; rel="next", ${page(1)}; rel="prev"`,
    );
    expect(await list("?page=1000000&per_page=100")).toMatchObject({ found: [], total: "5" });
  });

  test.each([
    ["?email=ADA@EX", ["ada"]],
    ["?email=second%2B", names.toReversed()],
    ["?email=other.example&username=d", ["dora", "ada"]],
    ["?username=ea", ["bea"]],
    ["?email=%25", []],
    ["?email=e_m", ["e_ma"]],
    ["?username=_", names.toReversed()],
    ["?email=%5C", []],
    ["?email=", names.toReversed()],
  ])("%s finds %j", async (query, found) => {
    expect(await list(query)).toMatchObject({ found, total: String(found.length) });
  });

  test("finds users by several ids", async () => {
    const [first, , third] = ids;
    expect((await list(`?user_id=${first},${third}`)).found).toEqual(["cleo", "ada"]);
    expect((await list(`?user_id=${first}&user_id=${third?.toUpperCase()}`)).found).toEqual(["cleo", "ada"]);
    expect((await list(`?user_id=${first},${third}&email=ada`)).found).toEqual(["ada"]);
  });

  test.each([
    "?page=0",
    "?page=1.5",
    "?page=1000001",
    "?page=1e3",
    "?per_page=0",
    "?per_page=101",
    "?page=1&page=2",
    "?sort_direction=up",
    "?user_id=",
    "?user_id=1",
    `?email=${"a".repeat(257)}`,
    "?email=%00",
    "?tenant_id=1",
    "?__proto__=1",
  ])("rejects %s", async (query) => {
    expect((await call("GET", `/users${query}`)).status).toBe(400);
  });
});
