import { describe, expect, test } from "vitest";
import { offsetOf, positionOf } from "./log-position.ts";
import { PrimaryLog } from "./primary-log.ts";

/** The answer of a primary. */
const at = (position: string | null, mark: string | null = "1") => ({ position, system: "7", mark });

describe("a position", () => {
  test.each([
    ["00000001@17.25/0/1B83480", { branch: "00000001@17.25", offset: 0x1b83480n }],
    ["0000000A@17/2/10", { branch: "0000000A@17", offset: 0x200000010n }],
    ["FFFFFFFF@17/FFFFFFFF/FFFFFFFF", { branch: "FFFFFFFF@17", offset: 0xffffffffffffffffn }],
    [null, null],
    ["", null],
    ["0/1B83480", null],
    ["00000001/0/1B83480", null],
  ])("%s is read", (text, position) => {
    expect(positionOf(text)).toEqual(position);
  });
});

describe("what was seen of the primary", () => {
  test("tells how long ago it had what a standby lacks", () => {
    const log = new PrimaryLog();
    log.see(at("00000001@17/0/100"), 0);
    log.see(at("00000001@17/0/200"), 500);
    log.see(at("00000001@17/0/300"), 1_000);
    expect(log.lagMs(offsetOf("0/300"), null, 1_200)).toBe(0);
    expect(log.lagMs(offsetOf("0/2FF"), null, 1_200)).toBe(200);
    expect(log.lagMs(offsetOf("0/100"), null, 1_200)).toBe(700);
  });

  test("finds no lag while an idle primary has written nothing, and none of before", () => {
    const log = new PrimaryLog();
    log.see(at("00000001@17/0/100"), 0);
    log.see(at("00000001@17/0/100"), 900_000);
    expect(log.lagMs(offsetOf("0/100"), 900_000, 900_000)).toBe(0);
    log.see(at("00000001@17/0/101"), 900_500);
    expect(log.lagMs(offsetOf("0/100"), 900_000, 900_600)).toBe(100);
  });

  test("takes the time of the last commit for a standby that is behind all that was seen", () => {
    const log = new PrimaryLog();
    log.see(at("00000001@17/0/100"), 0);
    expect(log.lagMs(offsetOf("0/1"), 180_000, 10)).toBe(180_000);
    expect(log.lagMs(offsetOf("0/1"), null, 10)).toBe(10);
  });

  test("goes on to grow for one that stands still", () => {
    const log = new PrimaryLog();
    for (let turn = 0; turn < 1_000; turn += 1)
      log.see(at(`00000001@17/0/${(256 + turn).toString(16)}`), turn * 500);
    expect(log.lagMs(offsetOf("0/1"), null, 500_000)).toBeGreaterThanOrEqual(120_000);
    expect(log.lagMs(offsetOf("0/1"), 499_000, 500_000)).toBe(499_000);
  });

  test.each([
    ["with a newer timeline", "00000002@17"],
    ["with the same timeline: another standby was promoted to it, too", "00000001@18"],
  ])(
    "knows a renewal only if it was made at the primary of now, and not at one before it, %s",
    (_, branch) => {
      const log = new PrimaryLog();
      expect(log.see(at("00000001@17/0/100", "1"), 0)).toBe(true);
      // It may have come from a former primary.
      expect(log.hasMade("1")).toBe(false);
      expect(log.see(at("00000001@17/0/200", "2"), 500)).toBe(false);
      expect(log.hasMade("2")).toBe(true);
      expect(log.hasMade(null)).toBe(false);
      // Another server took over, which has the renewals of the former one, and less of its log.
      expect(log.see(at(`${branch}/0/180`, "2"), 1_000)).toBe(true);
      expect(log.hasMade("2")).toBe(false);
      log.see(at(`${branch}/0/1A0`, "1"), 1_500);
      expect(log.hasMade("1")).toBe(true);
      expect(log.lagMs(offsetOf("0/200"), null, 1_500)).toBe(0);
    },
  );

  test("takes nothing from a standby", () => {
    const log = new PrimaryLog();
    expect(log.see(at(null), 0)).toBe(false);
    expect(log.branch).toBe("");
  });
});
