import { randomBytes, randomUUID } from "node:crypto";
import type { Platform } from "../lib/platform.ts";

/** Randomness, identifiers and time of the operating system. Tests replace them. */
export const systemPlatform: Platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
