import { randomBytes, randomUUID } from "node:crypto";
import type { Platform } from "../lib/platform.ts";

/** Where randomness, identifiers and time come from outside tests. */
export const systemPlatform: Platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
