import { expect, test } from "vitest";
import { contrastRatio } from "./contrast.ts";

test("computes the contrast ratio of WCAG for colours in either order", () => {
  expect(contrastRatio("000000", "ffffff")).toBeCloseTo(21);
  expect(contrastRatio("ffffff", "ffffff")).toBe(1);
  // An example of WCAG: the lightest grey that may carry text on white.
  expect(contrastRatio("767676", "ffffff")).toBeCloseTo(4.54, 2);
  expect(contrastRatio("ffffff", "767676")).toBeCloseTo(4.54, 2);
});
