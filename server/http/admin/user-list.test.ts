import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { accountOwner } from "../../testing/account-owner.ts";
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

const [ada = "", bea = "", cleo = "", dora = "", ema = ""] = ids;
const own = (userId: string) => ({ tenantId: runtime.tenant.id, userId, id: randomUUID() });
await call("PATCH", `/users/${ada}`, { name: "Ada Lovelace", family_name: "Lovelace" });
await call("POST", `/users/${cleo}/block`);
const { write } = runtime.database;
await write.insert(schema.identities).values([
  { ...own(ada), provider: "google", subject: "s-1" },
  { ...own(ada), provider: "apple", subject: "s-2" },
  { ...own(bea), provider: "google", subject: "s-2" },
  { ...own(bea), provider: "saml:https://idp.test", subject: "s-1" },
]);
await write.insert(schema.phoneNumbers).values({ ...own(bea), number: "+4915100000001" });
await write.update(schema.emails).set({ verifiedAt: null }).where(eq(schema.emails.userId, dora));
for (const [id, year] of [
  [ada, 2022],
  [ema, 2021],
] as const)
  await write
    .update(schema.users)
    .set({ lastSignInAt: new Date(Date.UTC(year, 0, 1)) })
    .where(eq(schema.users.id, id));

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
    "?blocked=yes",
    "?blocked=true&blocked=false",
    "?method=charm",
    "?provider=",
    `?provider_subject=${"a".repeat(1025)}`,
    "?created_after=yesterday",
    "?last_sign_in_before=9999-99-01T00:00:00Z",
    "?sort_by=name",
    "?after=1",
    `?after=99999999999999999_${ids[0]}`,
    `?after=999999999999999_${ids[0]}`,
    "?after=0_00000000-0000-0000-0000-00000000000g",
  ])("rejects %s", async (query) => {
    expect((await call("GET", `/users${query}`)).status).toBe(400);
  });

  test.each([
    ["ADA", ["ada"]],
    ["ada@ex", ["ada"]],
    ["second+a", ["ada"]],
    ["bea_1", ["bea"]],
    ["lovel", ["ada"]],
    ["Ada Lovelace", ["ada"]],
    ["ovelace", []],
    ["%", []],
    ["e_m", ["e_ma"]],
    ["+49 (151) 000-00001", ["bea"]],
    ["4915100000001", []],
    ["s-1", ["bea", "ada"]],
    ["s-", []],
    ["second", names.toReversed()],
  ])(
    "finds by the beginning of an address or a name, or by another identifier in full: %s",
    async (q, found) => {
      for (const order of ["created_at", "last_sign_in_at"])
        expect((await list(`?sort_by=${order}&q=${encodeURIComponent(q)}`)).found.toSorted()).toEqual(
          found.toSorted(),
        );
    },
  );

  test("finds a user by the id", async () => {
    expect((await list(`?q=${ids[2]?.toUpperCase()}`)).found).toEqual(["cleo"]);
    expect((await list(`?q=${randomUUID()}`)).found).toEqual([]);
  });

  test.each([
    ["name=LOVE", ["ada"]],
    ["name=%25", []],
    ["phone_number=%2B49151%2000000001", ["bea"]],
    ["phone_number=%2B491510000000", []],
    ["provider=google", ["bea", "ada"]],
    ["provider=goog", []],
    ["provider=apple", ["ada"]],
    ["provider_subject=s-1", ["bea", "ada"]],
    ["provider=apple&provider_subject=s-1", []],
    ["provider=google&provider_subject=s-2", ["bea"]],
    ["blocked=true", ["cleo"]],
    ["blocked=false&name=", ["e_ma", "dora", "bea", "ada"]],
    ["verified=false", ["dora"]],
    ["verified=true&blocked=true", ["cleo"]],
    ["method=third_party", ["bea", "ada"]],
    ["method=third_party,sms", ["bea"]],
    ["method=third_party&method=third_party", ["bea", "ada"]],
    ["method=passkey", []],
    ["created_after=2020-01-02T00:00:00Z&created_before=2020-01-04T00:00:00Z", ["cleo"]],
    ["last_sign_in_after=2021-01-01T00:00:00Z", ["ada"]],
    ["last_sign_in_before=2021-06-01T00:00:00Z", ["e_ma"]],
  ])("filters by %s", async (query, found) => {
    expect(await list(`?${query}`)).toMatchObject({ found, total: String(found.length) });
  });

  test("is sorted by the last sign-in, those without one as the earliest", async () => {
    const sorted = ["ada", "e_ma"];
    expect((await list("?sort_by=last_sign_in_at")).found.slice(0, 2)).toEqual(sorted);
    const { found } = await list("?sort_by=last_sign_in_at&sort_direction=asc");
    expect(found.slice(3)).toEqual(sorted.toReversed());
    const { body } = await call("GET", "/users?last_sign_in_after=2021-01-01T00:00:00Z");
    expect(body[0].last_sign_in_at).toBe("2022-01-01T00:00:00.000Z");
  });

  test.each(["created_at", "last_sign_in_at"])(
    "is read page by page after the user before, by %s, each user once",
    async (by) => {
      for (const direction of ["asc", "desc"]) {
        const all = (await list(`?sort_by=${by}&sort_direction=${direction}`)).found;
        const passed: string[] = [];
        let next: string | undefined = `?sort_by=${by}&sort_direction=${direction}&per_page=2&after=`;
        while (next !== undefined) {
          const { found, link, total }: Awaited<ReturnType<typeof list>> = await list(next);
          expect(total).toBe(String(names.length));
          passed.push(...found);
          [, next] = /users(\?[^>]*)>; rel="next"/.exec(link) ?? [];
        }
        expect(passed).toEqual(all);
        expect((await list(`?sort_by=${by}&sort_direction=${direction}&after=&page=2`)).found).toEqual(all);
      }
    },
  );
});

test("a sign-in is the last one of its user, and a session that an operator creates is none", async () => {
  const at = new Date(Date.UTC(2019, 0, 1));
  const owner = await accountOwner(runtime);
  const { users } = schema;
  await runtime.database.write.update(users).set({ lastSignInAt: at }).where(eq(users.id, owner.userId));
  const shown = async () => (await call("GET", `/users/${owner.userId}`)).body.last_sign_in_at;
  await call("POST", "/sessions", { user_id: owner.userId });
  expect(await shown()).toBe(at.toISOString());
  await owner.signInElsewhere();
  expect(Date.parse(await shown())).toBeGreaterThan(at.getTime());
  await call("DELETE", `/users/${owner.userId}`);
});
