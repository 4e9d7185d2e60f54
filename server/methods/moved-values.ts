import { z } from "zod";

/** A time; stored with a precision of a millisecond. In UTC its year has four digits, as in an export. */
export const movedTime = z.iso
  .datetime({ offset: true, error: "is not a time like 2026-01-31T12:00:00Z" })
  .refine((text) => {
    const date = new Date(text);
    return !Number.isNaN(date.getTime()) && /^(?!0000)\d{4}-/.test(date.toISOString());
  }, "is before the year 1 or after the year 9999");

export const movedName = z.string().min(1).max(256);

export const movedBytes = z.string().regex(/^[A-Za-z0-9_-]+$/, "is not base64url");
