import { sql } from "drizzle-orm";
import { afterEach, expect, test, vi } from "vitest";
import { emit } from "../events/emit.ts";
import { eventually } from "../testing/eventually.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { insertUser } from "../testing/users.ts";
import { commitWrites } from "../testing/writes.ts";
import { listen } from "./listener.ts";

const runtime = await runtimeForTests();

afterEach(() => vi.useRealTimers());

const listeners = async () => {
  const { rows } = await runtime.database.write.execute<{ lasts: boolean }>(
    sql`select expires_at > now() as lasts from webhooks`,
  );
  return rows;
};

test("a listener whose receiver is slow, or whose machine slept, goes on to get events", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  // Of different users, so that the listener takes both events at once.
  const users = [await insertUser(runtime), await insertUser(runtime)];
  const login = () =>
    commitWrites(runtime, ...users.map((user) => emit(requestContext(runtime), "user.login", user)));
  const ending = new AbortController();
  const seen: { lasts: boolean }[][] = [];
  let taken = 0;
  const listening = listen(runtime, runtime.tenant, {
    events: ["user"],
    secret: "whsec_",
    forward: null,
    signal: ending.signal,
    async take() {
      seen.push(await listeners());
      // Meanwhile a server purges it.
      await runtime.database.write.execute(sql`delete from webhooks`);
      vi.advanceTimersByTime(20_000);
      taken += 1;
      return { kind: "attempted", answer: { durationMs: 0 }, pauseSeconds: null };
    },
  });
  await eventually(async () => expect(await listeners()).toHaveLength(1));
  await login();
  // An event between the purge and the listener's return would go to no webhook.
  await eventually(() => expect(taken).toBe(2));
  await eventually(async () => expect(await listeners()).toHaveLength(1));
  await login();
  await eventually(() => expect(seen).toHaveLength(4));
  expect(seen).toEqual(Array(4).fill([{ lasts: true }]));
  ending.abort();
  await listening;
  expect(await listeners()).toEqual([]);
});
