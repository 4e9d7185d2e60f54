import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { visitor } from "../testing/visitor.ts";
import { supportNumber } from "./support-number.ts";
import { inGroups, parseSupportNumber } from "./written-support-number.ts";

const origin = "https://app.example.net";
const runtime = await runtimeForTests({ STILE_CORS_ALLOW_ORIGINS: origin });

type Answer = { result: { data: { version: number; support_number?: string } } };

async function start(of = runtime, headers: Record<string, string> = {}) {
  const answer = await visitor(of).mutate("flow.start", { type: "login" }, headers);
  return ((await answer.json()) as Answer).result.data;
}

describe("a support number", () => {
  test("is eight letters without vowels, the same for a flow each time", () => {
    const flowId = randomUUID();
    expect(supportNumber(flowId)).toMatch(/^[BCDFGHJKMNPRTVWX]{8}$/);
    expect(supportNumber(flowId)).toBe(supportNumber(flowId));
    const numbers = new Set(Array.from({ length: 2_000 }, () => supportNumber(randomUUID())));
    expect(numbers.size).toBe(2_000);
  });

  test("is read as a user writes it, and nothing else is", () => {
    const number = supportNumber(randomUUID());
    for (const written of [
      number,
      inGroups(number),
      inGroups(number).toLowerCase(),
      ` ${number.slice(0, 4)}-${number.slice(4)}`,
    ])
      expect(parseSupportNumber(written)).toBe(number);
    for (const other of ["", number.slice(1), `${number}B`, "AEIOUAEI", "BCDFGHJ0"])
      expect(parseSupportNumber(other)).toBeNull();
  });

  test("is in the answers to our own pages, and leads to the flow", async () => {
    const { support_number = "" } = await start();
    expect(support_number).toMatch(/^[A-Z]{4} [A-Z]{4}$/);
    await runtime.recorder.flush();
    const { rows } = await runtime.database.read.$client.query(
      "select state from recorded_flows where support_number = $1",
      [parseSupportNumber(support_number)],
    );
    expect(rows).toEqual([{ state: "preflight" }]);
  });

  test("is in no answer to clients of their own, to pages of other origins, and where flows are not recorded", async () => {
    const answer = await visitor(runtime).post("/login", {});
    expect(await answer.text()).not.toContain("support_number");
    const elsewhere = { origin, "sec-fetch-site": "cross-site" };
    expect(await start(runtime, elsewhere)).not.toHaveProperty("support_number");
    const off = runtime.configured({ STILE_RECORDER_ENABLED: "false" });
    expect(await start(off)).not.toHaveProperty("support_number");
  });
});
