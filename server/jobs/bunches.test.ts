import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { createBunches } from "./bunches.ts";

/** Work that ends when the test ends it, and writes that end when the test ends them. */
function heldWork({ max = 10, waitMs = 3_600_000, holdsWrites = false } = {}) {
  const written: (readonly string[])[] = [];
  const writes: (() => void)[] = [];
  const bunches = createBunches<string>({
    max,
    waitMs,
    async write(items) {
      written.push(items);
      if (holdsWrites) await new Promise<void>((resolve) => writes.push(resolve));
    },
  });
  function begin(item: string | null): { end: () => void; done: Promise<void> } {
    let end = () => {};
    const done = bunches.run(
      () =>
        new Promise((resolve) => {
          end = () => resolve(item);
        }),
    );
    return { end, done };
  }
  return { begin, written, writes };
}

test("writes the item of work that has no other beside it at once", async () => {
  const { begin, written } = heldWork();
  const only = begin("only");
  only.end();
  await only.done;
  expect(written).toEqual([["only"]]);
});

test("writes the items of work that ends side by side together, when the last one has ended", async () => {
  const { begin, written } = heldWork();
  const [one, other, failing] = [begin("one"), begin("other"), begin(null)];
  one.end();
  other.end();
  failing.end();
  await Promise.all([one.done, other.done, failing.done]);
  expect(written).toEqual([["one", "other"]]);
});

test("writes as many as a write may have without waiting for work that does not end", async () => {
  const { begin, written } = heldWork({ max: 2 });
  begin("hanging");
  const [one, other] = [begin("one"), begin("other")];
  one.end();
  other.end();
  await Promise.all([one.done, other.done]);
  expect(written).toEqual([["one", "other"]]);
});

test("writes after the pause what waits for work that does not end", async () => {
  const { begin, written } = heldWork({ waitMs: 1 });
  begin("hanging");
  const one = begin("one");
  one.end();
  await one.done;
  expect(written).toEqual([["one"]]);
});

test("writes one bunch at a time, the next one with all that has ended meanwhile", async () => {
  const { begin, written, writes } = heldWork({ holdsWrites: true });
  begin("first").end();
  await eventually(() => expect(writes).toHaveLength(1));
  const [one, other] = [begin("one"), begin("other")];
  one.end();
  other.end();
  await Promise.resolve();
  expect(written).toEqual([["first"]]);
  writes[0]?.();
  await eventually(() => expect(writes).toHaveLength(2));
  writes[1]?.();
  await Promise.all([one.done, other.done]);
  expect(written).toEqual([["first"], ["one", "other"]]);
});
