import { expect, test } from "vitest";
import { recognizeEveryCopy } from "./every-copy.ts";

/** Makes a copy of two classes, of which one extends the other, as another bundle does. */
function bundle() {
  class Busy extends Error {
    static {
      recognizeEveryCopy(Busy, "test.Busy");
    }
  }
  class Full extends Busy {
    static {
      recognizeEveryCopy(Full, "test.Full");
    }
  }
  return { Busy, Full };
}

const [one, other] = [bundle(), bundle()];

test("recognises the errors of another copy of a class, and of the classes that extend it", () => {
  expect(new one.Busy()).toBeInstanceOf(other.Busy);
  expect(new one.Full()).toBeInstanceOf(other.Full);
  expect(new one.Full()).toBeInstanceOf(other.Busy);
  expect(new one.Full()).toBeInstanceOf(Error);
});

test("recognises nothing else", () => {
  expect(new one.Busy()).not.toBeInstanceOf(other.Full);
  for (const value of [new Error("busy"), null, undefined, "test.Busy", 7, {}])
    expect(value).not.toBeInstanceOf(one.Busy);
});
