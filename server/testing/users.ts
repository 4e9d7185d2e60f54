import { randomUUID } from "node:crypto";
import { createUser } from "../identity/users.ts";
import type { TestRuntime } from "./runtime.ts";
import { commitWrites } from "./writes.ts";

/** Inserts a user without address, name or credential; returns the id. */
export async function insertUser(runtime: TestRuntime, now = new Date()): Promise<string> {
  const { tenant, platform } = runtime;
  const id = randomUUID();
  await commitWrites(runtime, (tx) => createUser(tx, tenant.id, { id, now, platform }));
  return id;
}
