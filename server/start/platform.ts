import { randomBytes, randomUUID } from "node:crypto";
import type { Environment } from "../runtime.ts";

/** Where randomness, identifiers and time come from outside tests. */
export const machine: Environment = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
