import { expect, test } from "vitest";
import { runKillDrill } from "../testing/kill-drill.ts";

test("A112 of a server killed again and again, each committed event arrives with its id, and no other does", async () => {
  const result = await runKillDrill(2);
  expect(result.committed).toBeGreaterThan(0);
  expect(result).toMatchObject({ lost: [], invented: [] });
  expect(result.logins.emitted).toBe(result.logins.recorded);
});
