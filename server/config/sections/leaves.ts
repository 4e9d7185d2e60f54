import { X509Certificate } from "node:crypto";
import { z } from "zod";

declare module "zod" {
  interface GlobalMeta {
    /** Whether the value is stored sealed and never listed. */
    secret?: boolean;
    /** Bounds of a duration in seconds. */
    minimum?: number;
    maximum?: number;
  }
}

/** The kinds of values that settings have. */

const DURATION_UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };

interface Bounds {
  min?: number;
  max?: number;
}

/**
 * A span of time, written `90s`, `5m`, `12h`, `30d`, or as a number of seconds. Parsed to seconds.
 *
 * @param bounds in seconds
 */
export const duration = ({ min = 0, max = Number.POSITIVE_INFINITY }: Bounds = {}) =>
  z
    .union([
      z.number().int().nonnegative(),
      z.string().regex(/^\d+(s|m|h|d)?$/, "must be a duration like 90s, 5m, 12h or 30d"),
    ])
    .transform((value) => {
      const [, amount = "", unit = "s"] = /^(\d+)([smhd])?$/.exec(String(value)) ?? [];
      return Number(amount) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS];
    })
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max} seconds`)
    .meta({ minimum: min, ...(Number.isFinite(max) ? { maximum: max } : {}) });

export const seconds = (fallback: number, bounds?: Bounds) => duration(bounds).prefault(fallback);

/** The most processes of one server that serve. */
const MAX_WORKERS = 64;

/** A number of processes that serve, or `auto`: one for each core. */
export const workerCount = () =>
  z
    .union([
      z.literal("auto"),
      z.number().int(),
      z.string().regex(/^\d+$/, "must be auto or a whole number").transform(Number),
    ])
    .refine(
      (value) => value === "auto" || (value >= 1 && value <= MAX_WORKERS),
      `must be auto, or between 1 and ${MAX_WORKERS}`,
    )
    .prefault(1);

export const flag = (fallback: boolean) => z.boolean().default(fallback);
export const count = (fallback: number, min = 0, max = 1_000_000) =>
  z.number().int().min(min).max(max).default(fallback);
export const text = (fallback: string) => z.string().default(fallback);
export const list = (fallback: string[] = []) => z.array(z.string().min(1)).default(fallback);

/** Origins (RFC 6454, 6.2), exactly as browsers send them. */
export const originList = (example: string) =>
  z
    .array(
      z
        .string()
        .refine((entry) => entry !== "*", "* would let every site act for its visitors")
        .refine(isOrigin, `must be origins like ${example}`),
    )
    .default([]);

/** The host of an origin, without what has a meaning in `frame-ancestors` and `Permissions-Policy`: `*`, `;`, `"`. */
const plainOrigin = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;

/** Origins of pages that may hold a frame of this service: over TLS, or on the machine of a developer. */
export const embedderList = () =>
  z
    .array(
      z
        .string()
        .refine(
          (entry) => isOrigin(entry) && plainOrigin.test(entry),
          "must be origins like https://app.example.com, without patterns",
        )
        .refine(
          (entry) => entry.startsWith("https:") || isLocalOrigin(entry),
          "must be https, or http://localhost or http://*.localhost in development",
        ),
    )
    .default([]);

/** Whether an origin is that of a page on the same machine, without TLS (RFC 6761, 6.3). */
export const isLocalOrigin = (origin: string) => /^http:\/\/(?:[a-z0-9-]+\.)*localhost(:\d+)?$/.test(origin);

/** Addresses that browsers may be sent to; `*` and `**` stand for parts of the path. */
export const redirectList = () =>
  z.array(z.string().regex(/^https?:\/\/[^/*]/, "must begin with a scheme and a host")).default([]);

export const hostName = () =>
  z.string().regex(/^[^:/]+$/, "must be a host name, without scheme, port or path");

export const acquire = (fallback: "always" | "conditional" | "never") =>
  z.enum(["always", "conditional", "never"]).default(fallback);

export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

export const userVerification = (fallback: "required" | "preferred" | "discouraged") =>
  z.enum(["required", "preferred", "discouraged"]).default(fallback);
export const attachment = (fallback: "platform" | "cross-platform" | "no_preference") =>
  z.enum(["platform", "cross-platform", "no_preference"]).default(fallback);
export const attestationPreference = () =>
  z.enum(["none", "indirect", "direct", "enterprise"]).default("direct");
export const residentKey = (fallback: "discouraged" | "preferred" | "required") =>
  z.enum(["discouraged", "preferred", "required"]).default(fallback);

export const cookieName = (fallback: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "must be a cookie name: letters, digits, _ and -")
    .default(fallback);

/** Certificates in PEM. */
export const certificates = () =>
  z.array(z.string().refine(isCertificate, "has an entry that is no certificate in PEM"));

/** A value that is stored sealed, and that no list of settings shows. */
export const secret = () => z.string().min(1).meta({ secret: true });

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.type === "public";
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
