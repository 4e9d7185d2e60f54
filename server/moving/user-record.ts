import { z } from "zod";
import type { Metadata } from "#db/schema/users";
import type { ExportedMember } from "#db/tables";
import { MAX_METADATA_CHARACTERS } from "../identity/metadata.ts";
import { MAX_PICTURE_CHARACTERS } from "../identity/picture.ts";
import { isNestedDeeperThan } from "../lib/nesting.ts";
import { movings } from "../methods/index.ts";
import { movedBytes, movedName, movedTime } from "../methods/moved-values.ts";

/** Not a record of zod, which leaves out a member with the name `__proto__`. */
const metadata = z
  .custom<Metadata>(isObject, "is not an object")
  .refine(
    (value) => JSON.stringify(value).length <= MAX_METADATA_CHARACTERS,
    `has more than ${MAX_METADATA_CHARACTERS} characters`,
  );

const email = z.strictObject({
  address: z.string(),
  is_primary: z.boolean().default(false),
  is_verified: z.boolean().default(false),
  verified_at: movedTime.nullish(),
  created_at: movedTime.nullish(),
});

type Shapes = (typeof movings)[number]["shape"];

type MemberOf<Shape> = Shape extends Shape ? keyof Shape : never;

/** The members of all methods. */
const credentialMembers = Object.assign({}, ...movings.map(({ shape }) => shape)) as {
  [Member in MemberOf<Shapes>]: Extract<Shapes, Record<Member, unknown>>[Member];
};

/**
 * A user as a line of JSON, which `stile users export` writes and `stile users import` reads. Its members are those that
 * tables say they are exported as; each method declares its own.
 */
export const userRecord = z.strictObject({
  id: z.guid().toLowerCase().nullish(),
  name: movedName.nullish(),
  given_name: movedName.nullish(),
  family_name: movedName.nullish(),
  picture: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .nullish(),
  /** A picture that the user uploaded, in place of `picture`: JPEG. */
  picture_file: movedBytes
    .max(MAX_PICTURE_CHARACTERS, `is longer than ${MAX_PICTURE_CHARACTERS} characters`)
    .nullish(),
  emails: z.array(email).max(100).default([]),
  username: z.string().nullish(),
  public_metadata: metadata.default({}),
  private_metadata: metadata.default({}),
  unsafe_metadata: metadata.default({}),
  ...credentialMembers,
  /** Language of mails, a tag of BCP 47. */
  language: z.string().max(16).nullish(),
  blocked_at: movedTime.nullish(),
  created_at: movedTime.nullish(),
  updated_at: movedTime.nullish(),
} satisfies Record<ExportedMember, z.ZodType>);

export type UserRecord = z.output<typeof userRecord>;

/** What converters of other forms return; not validated yet. */
export type UserRecordInput = z.input<typeof userRecord>;

/** Levels of nesting in a record. More than metadata of the greatest length can have, and few enough for recursion. */
const MAX_LEVELS = 2_000;

/**
 * Parses a record, or a value that is in it as text.
 *
 * @throws SyntaxError if it is not JSON, RangeError if it is nested too deeply
 */
export function parseRecord(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isNestedDeeperThan(value, MAX_LEVELS)) throw new RangeError("nested too deeply");
  return value;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
