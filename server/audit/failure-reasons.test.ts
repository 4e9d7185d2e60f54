import { describe, expect, test } from "vitest";
import { auditTypes } from "./audit-types.ts";
import { failureReasons } from "./failure-reasons.ts";

const declared = Object.entries(failureReasons);

test("every type of entries that tells of a failure has a closed list of reasons, and no other type has one", () => {
  const failures = auditTypes.filter((type) => /fail|reject|withh|denied|refus|invalid/.test(type));
  expect(failures).toContain("webauthn_authentication_final_failed");
  expect(declared.map(([type]) => type).toSorted()).toEqual(failures.toSorted());
});

describe.each(declared)("%s", (_, reasons) => {
  test("has reasons, each a word for programs with a sentence for operators", () => {
    expect(Object.keys(reasons).length).toBeGreaterThan(0);
    for (const [reason, meaning] of Object.entries(reasons)) {
      expect(reason).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(meaning).toMatch(/\S/);
    }
  });
});
