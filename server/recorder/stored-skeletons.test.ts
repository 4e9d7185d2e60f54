import { expect, test } from "vitest";
import { readSkeleton, settingsDigest, storeSkeleton } from "./stored-skeletons.ts";

const digest = Buffer.from("0102030405060708", "hex");

const skeleton = {
  version: 3,
  at: 1234,
  user: null,
  facts: { has: ["hasPassword", "email"], deviceTrusted: false },
  outcome: { to: "login_password", commits: false, enters: true, data: {} },
  offered: { password_login: "1a2b", back: "aa11" },
};

test("what a step was decided by is read as it was stored, with its settings", () => {
  const stored = storeSkeleton(skeleton, digest);
  expect(readSkeleton(stored)).toEqual({ skeleton, settings: digest });
  expect(settingsDigest(stored)).toEqual(digest);
});

test("what a former version has stored is read", () => {
  const stored = Buffer.from("AQECAwQFBgcIwxx/NTQyNiF9DHagx1wNE42SEM2ExERDQ6DnAA==", "base64");
  expect(readSkeleton(stored)).toEqual({ skeleton, settings: digest });
});

test.for([
  ["of a later format", (bytes: Buffer) => Buffer.concat([Buffer.of(9), bytes.subarray(1)])],
  ["cut off in its head", (bytes: Buffer) => bytes.subarray(0, 12)],
  ["cut off in its text", (bytes: Buffer) => bytes.subarray(0, -4)],
  ["without anything", () => Buffer.alloc(0)],
] as const)("a row %s tells nothing", ([, damaged]) => {
  expect(readSkeleton(damaged(storeSkeleton(skeleton, digest)))).toBeNull();
});
