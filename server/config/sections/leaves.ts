import { z } from "zod";

declare module "zod" {
  interface GlobalMeta {
    /** Rests sealed and is never listed. */
    secret?: boolean;
  }
}

/** The kinds of values that settings have. */

/** A span of time, written `90s`, `5m`, `12h`, `30d`, or as a number of seconds. Held in seconds. */
export const duration = z
  .union([
    z.number().int().nonnegative(),
    z.string().regex(/^\d+(s|m|h|d)?$/, "is not a duration like 90s, 5m, 12h or 30d"),
  ])
  .transform((value) => {
    const unit = { s: 1, m: 60, h: 3600, d: 86_400 };
    const text = String(value);
    const suffix = text.at(-1) as keyof typeof unit;
    return suffix in unit ? Number(text.slice(0, -1)) * unit[suffix] : Number(text);
  });

export const seconds = (fallback: number) => duration.prefault(fallback);

export const flag = (fallback: boolean) => z.boolean().default(fallback);
export const count = (fallback: number, min = 0, max = 1_000_000) =>
  z.number().int().min(min).max(max).default(fallback);
export const text = (fallback: string) => z.string().default(fallback);
export const list = (fallback: string[] = []) => z.array(z.string().min(1)).default(fallback);

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
    .regex(/^[A-Za-z0-9_-]+$/, "is not a cookie name")
    .default(fallback);

/** A value that rests sealed, and that no list of settings shows. */
export const secret = () => z.string().min(1).meta({ secret: true });
