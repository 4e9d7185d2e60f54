import { z } from "zod";
import { MAX_TRANSACTION_BYTES } from "../config/sections/authenticator.ts";
import { type ParsedValue, parseMember } from "../lib/parse-member.ts";
import { isMisleading } from "./uaf/transaction.ts";

/**
 * Bodies of applications and authenticator apps. Published clients send unknown members, which are ignored, and null,
 * which counts as absent.
 */

const missingOr = (otherwise: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? "is missing" : otherwise),
});

/** PostgreSQL does not accept NUL. */
const text = (maxCharacters: number) =>
  z
    .string(missingOr("must be a string"))
    .max(maxCharacters, `may have at most ${maxCharacters} characters`)
    .refine((value) => !value.includes("\0") && value.isWellFormed(), "contains invalid characters");

const nonBlankText = (maxCharacters: number) =>
  text(maxCharacters)
    .refine((value) => value.trim() !== "", "must not be blank")
    .meta({ minLength: 1 });

/** The authenticator shows the text to the user, who relies on it. */
const plain = [
  (value: string) => !isMisleading(value),
  "must not contain control or bidirectional characters",
] as const;

const placeName = nonBlankText(128).refine(...plain);

/** Truncates instead of rejecting: a `User-Agent` has no length limit. */
const truncatedText = (maxCharacters: number) =>
  z
    .string("must be a string")
    .transform((value) => value.slice(0, maxCharacters).toWellFormed().replaceAll("\0", ""));

/** The body by which an application creates a request. */
export const requestBody = z
  .object(
    {
      operation: z.enum(["REG", "AUTH", "DEREG"], missingOr("must be REG, AUTH or DEREG")),
      /** The application's id of its user; opaque. */
      userId: nonBlankText(255),
      // Shown to the user, to distinguish accounts. UAF Protocol Specification 1.1, section 3.4.1.
      username: nonBlankText(128),
      displayName: text(255).exactOptional(),
      // Text that the user confirms. The limit of the user's authenticators is checked when they are known.
      transaction: nonBlankText(MAX_TRANSACTION_BYTES)
        .refine(...plain)
        .exactOptional(),
      /** The user's browser, shown by the authenticator app. */
      clientData: z
        .object(
          {
            remoteAddress: truncatedText(128).exactOptional(),
            userAgent: truncatedText(512).exactOptional(),
          },
          "must be an object",
        )
        .exactOptional(),
      /** The place of the browser. Absent or empty: looked up by its address. */
      location: z
        .object(
          {
            country: placeName.exactOptional(),
            region: placeName.exactOptional(),
            city: placeName.exactOptional(),
          },
          "must be an object",
        )
        .exactOptional(),
      /** Devices that may answer, or that are deregistered. Absent: all of the user's. */
      deviceIds: z
        .array(z.uuid("must be the id of a device"), "must be a list")
        .min(1, "must name a device, or be left out to mean all of them")
        .max(100, "may name at most 100 devices")
        .exactOptional(),
      /** Stored for the application, which interprets it. */
      isSecondFactorOnly: z.boolean("must be true or false").exactOptional(),
    },
    "must be an object",
  )
  .refine(({ operation, transaction }) => operation === "AUTH" || transaction === undefined, {
    path: ["transaction"],
    error: "goes with the operation AUTH alone",
  })
  .refine(({ operation, deviceIds }) => operation !== "REG" || deviceIds === undefined, {
    path: ["deviceIds"],
    error: "does not go with the operation REG",
  });

export type RequestInput = z.output<typeof requestBody>;

const handle = text(4096).exactOptional();
const fact = text(128).exactOptional();

/** The body by which an authenticator app answers a request. */
export const answerBody = z.object(
  {
    /** UAF response, as the UAF client returned it. */
    uafResponse: z.string(missingOr("must be a string")).min(1, "must not be empty"),
    /** Description of the device. */
    deviceKeyInfo: z
      .object(
        {
          pushToken: handle,
          secret: handle,
          keyName: fact,
          deviceOs: fact,
          osVersion: fact,
          manufacturer: fact,
          model: fact,
        },
        "must be an object",
      )
      .default({}),
  },
  "must be an object",
);

export type AnswerInput = z.output<typeof answerBody>;

/** The body that renames a device. */
export const renameBody = z.object({ newName: nonBlankText(128) }, "must be an object");

/** Whether a text is a valid user id of an application. */
export const isUserId = (id: string): boolean => nonBlankText(255).safeParse(id).success;

/**
 * Parses a body with one of these schemas.
 *
 * @returns what is wrong, for developers: a sentence without a full stop
 */
export function parseInput<Value>(schema: z.ZodType<Value>, body: unknown): ParsedValue<Value> {
  return parseMember(schema, withoutNulls(body), "The body");
}

/** Removes null members. The JSON reader limits the depth of bodies. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const present = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(present.map(([name, member]) => [name, withoutNulls(member)]));
}
