import { describe, expect, test } from "vitest";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

/** More users than a filter passes before it asks for all whom it finds, and more of them than a list counts. */
const USERS = 34_000;
const OLD = 12_000;
const COUNTED = 10_000;

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

const id = "('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid";
const tenant = `'${runtime.tenant.id}'::uuid`;

// User `i` was created in second `i`, and signed in for the last time the later the smaller `i` is; each third never did.
const { $client } = runtime.database.write;
const users = `generate_series(1, ${USERS}) as i`;
await $client.query(`insert into users (tenant_id, id, name, last_sign_in_at, created_at)
  select ${tenant}, ${id}, 'Person ' || i,
    case when i % 3 > 0 then timestamptz '2022-01-01' - i * interval '1 second' end,
    timestamptz '2020-01-01' + i * interval '1 second' from ${users}`);
await $client.query(`insert into identities (tenant_id, id, user_id, provider, subject)
  select ${tenant}, gen_random_uuid(), ${id}, 'google', i::text from ${users} where i <= ${OLD}`);
await $client.query(`insert into emails (tenant_id, id, user_id, address, is_primary, verified_at)
  select ${tenant}, gen_random_uuid(), ${id}, 'person' || i || '@example.com', true,
    case when i <= ${OLD} then now() end from ${users}`);
await $client.query("analyze users, identities, emails");

const numberOf = (userId: string) => Number(userId.slice(-12));

const all = Array.from({ length: USERS }, (_, index) => index + 1);
const old = all.slice(0, OLD);

const bySignIn = (numbers: readonly number[]) => [
  ...numbers.filter((number) => number % 3 > 0),
  ...numbers.filter((number) => number % 3 === 0).toReversed(),
];

async function list(query: string) {
  const { status, body, headers } = await call("GET", `/users?${query}`);
  expect(status).toBe(200);
  return {
    found: body.map((user: { id: string }) => numberOf(user.id)) as number[],
    total: Number(headers.get("x-total-count")),
    link: headers.get("link") ?? "",
  };
}

describe("a list of more users than it counts", () => {
  test.each([
    ["of those who are the oldest", "provider=google", old.toReversed()],
    ["of those who are the oldest, these first", "provider=google&sort_direction=asc", old],
    ["by the last sign-in", "provider=google&sort_by=last_sign_in_at", bySignIn(old)],
    ["of two methods", "method=third_party,passcode", old.toReversed()],
    ["of verified ones", "verified=true", old.toReversed()],
    ["of unverified ones", "verified=false", all.slice(OLD).toReversed()],
    ["of those found by the beginning of a name", "q=person", all.toReversed()],
    ["of those found by it, by the last sign-in", "q=person&sort_by=last_sign_in_at", bySignIn(all)],
    [
      "of old ones found by it, by the last sign-in",
      "q=person&provider=google&sort_by=last_sign_in_at",
      bySignIn(old),
    ],
    ["of those found by a part of a name", "name=erso", all.toReversed()],
  ])("%s has each page, up to what it counts", async (_, query, expected) => {
    expect(await list(`${query}&per_page=50`)).toMatchObject({
      found: expected.slice(0, 50),
      total: COUNTED,
    });
    expect((await list(`${query}&per_page=50&page=150`)).found).toEqual(expected.slice(7_450, 7_500));
    expect((await list(`${query}&per_page=50&page=201`)).found).toEqual([]);
  });

  test("goes on after the last user of a page, beyond what it counts", async () => {
    const passed: number[] = [];
    let next: string | undefined = "provider=google&per_page=100&after=";
    while (next !== undefined) {
      const { found, link }: Awaited<ReturnType<typeof list>> = await list(next);
      passed.push(...found);
      [, next] = /users\?([^>]*)>; rel="next"/.exec(link) ?? [];
    }
    expect(passed).toEqual(old.toReversed());
  });

  test("of all users by the last sign-in has those without one last", async () => {
    const sorted = bySignIn(all);
    expect(await list("sort_by=last_sign_in_at&per_page=100")).toMatchObject({
      found: sorted.slice(0, 100),
      total: USERS,
    });
    const { found } = await list("sort_by=last_sign_in_at&sort_direction=asc&per_page=100");
    expect(found).toEqual(sorted.slice(-100).toReversed());
  });
});

test("a list of few users among many has them in the order that is asked for", async () => {
  const found = all.filter((number) => String(number).startsWith("3399")).toReversed();
  expect(await list("q=person%203399&per_page=100")).toMatchObject({ found, total: found.length });
  const sorted = await list("email=person3399&sort_by=last_sign_in_at&per_page=100");
  expect(sorted.found).toEqual(bySignIn(found.toReversed()));
  expect((await list("provider_subject=7")).found).toEqual([7]);
});
