import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { type EventContext, emitMail } from "./emit.ts";
import type { EventData } from "./events.ts";
import { hasSubscriber } from "./subscriptions.ts";

/**
 * Returns the function that emits `email.send`, in a transaction of its own: the mail was committed with the change that
 * caused it, and is repeated until this has succeeded.
 *
 * @returns a function that writes no second event with the same id, and returns false if no webhook is subscribed;
 *   `data` is not called then
 */
export function mailEvents(
  runtime: EventContext["runtime"] & Pick<Runtime, "database" | "vault">,
): (tenant: Tenant, id: string, data: () => EventData<"email.send">) => Promise<boolean> {
  const { database } = runtime;
  return async (tenant, id, data) => {
    if (!(await hasSubscriber(database.read, tenant, "email.send"))) return false;
    await database.write.transaction(emitMail({ runtime, tenant }, id, data()));
    return true;
  };
}
