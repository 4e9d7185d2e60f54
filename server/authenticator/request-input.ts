import { z } from "zod";
import type { DeviceKeyInfo } from "./devices.ts";
import { isTransactionText, longestTransactionText } from "./uaf/transaction.ts";

/**
 * What applications and apps send. Published clients send more members than are known here, and null for what they do
 * not have: the one is passed over, the other counts as absent.
 */

/** What an application asks for. */
export interface WantedRequest {
  operation: "REG" | "AUTH" | "DEREG";
  /** Whatever the application calls its user; compared as it stands. */
  userId: string;
  /** For the user, to tell accounts apart. */
  username: string;
  displayName?: string;
  /** Text to agree to; `AUTH` alone. */
  transaction?: string;
  /** The browser that the user sits at, for the phone to show. */
  clientData?: { remoteAddress?: string; userAgent?: string };
  /** Devices that may answer, or that are forgotten; absent for all of the user's. */
  deviceIds?: string[];
  /** Kept for the application, which decides what follows from it. */
  isSecondFactorOnly?: boolean;
}

/** The app's answer. */
export interface Answer {
  /** UAF response, as the client on the phone gave it. */
  uafResponse: string;
  deviceKeyInfo: DeviceKeyInfo;
}

/** `message`: one sentence for the people who build clients. */
export type Read<Value> = { ok: true; value: Value } | { ok: false; message: string };

const missingOr = (otherwise: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? "is missing" : otherwise),
});

/** PostgreSQL takes no NUL. */
const text = (longest: number) =>
  z
    .string(missingOr("must be a text"))
    .max(longest, `may have at most ${longest} characters`)
    .refine((value) => !value.includes("\0") && value.isWellFormed(), "holds characters that cannot be kept");

const filled = (longest: number) => text(longest).refine((value) => value.trim() !== "", "must not be blank");

/** What browsers say of themselves has no limit, and is no reason to refuse. */
const cut = (longest: number) =>
  z
    .string("must be a text")
    .transform((value) => value.slice(0, longest).toWellFormed().replaceAll("\0", ""));

const wanted = z
  .object(
    {
      operation: z.enum(["REG", "AUTH", "DEREG"], missingOr("must be REG, AUTH or DEREG")),
      userId: filled(255),
      // UAF Protocol Specification 1.1, section 3.4.1.
      username: filled(128),
      displayName: text(255).exactOptional(),
      transaction: filled(1024)
        .refine(
          isTransactionText,
          `may have at most ${longestTransactionText} bytes of UTF-8, which is what authenticators can show`,
        )
        .exactOptional(),
      clientData: z
        .object(
          { remoteAddress: cut(128).exactOptional(), userAgent: cut(512).exactOptional() },
          "must be an object",
        )
        .exactOptional(),
      deviceIds: z
        .array(z.uuid("must be the id of a device"), "must be a list")
        .min(1, "must name a device, or be left out to mean all of them")
        .max(100, "may name at most 100 devices")
        .exactOptional(),
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

const handle = text(4096).exactOptional();
const fact = text(128).exactOptional();

const answer = z.object(
  {
    uafResponse: z.string(missingOr("must be a text")).min(1, "must not be empty"),
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

const rename = z.object({ newName: filled(128) }, "must be an object");

/** Whether an application may call a user so. */
export const isUserId = (id: string): boolean => filled(255).safeParse(id).success;

export const readWanted = (body: unknown): Read<WantedRequest> => read(wanted, body);
export const readAnswer = (body: unknown): Read<Answer> => read(answer, body);
export const readRename = (body: unknown): Read<{ newName: string }> => read(rename, body);

function read<Value>(schema: z.ZodType<Value>, body: unknown): Read<Value> {
  const { success, data, error } = schema.safeParse(withoutNulls(body));
  if (success) return { ok: true, value: data };
  const [issue] = error.issues;
  const where = issue && issue.path.length > 0 ? issue.path.join(".") : "The body";
  return { ok: false, message: `${where} ${issue?.message ?? "cannot be read"}.` };
}

/** Bodies are nested a few levels deep at most: their reader sees to it. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const present = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(present.map(([name, member]) => [name, withoutNulls(member)]));
}
