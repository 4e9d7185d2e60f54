import type { ConsoleVisitor } from "../../console/console-sessions.ts";
import { thisRelease } from "../../database/releases.ts";
import { type ConsoleRole, mayAs } from "../../identity/console-roles.ts";
import { readUserObject } from "../../objects/user-object.ts";
import type { Runtime } from "../../runtime.ts";
import { consoleOperations } from "./call.ts";

/** What a page of the console knows of its user. */
export interface Me {
  user: { id: string; name: string };
  role: ConsoleRole;
  /** The tenant of the account. */
  tenant: { id: string; name: string; url: string };
  /** Whether the tenant is the default one, whose operators reach all others. */
  is_default_tenant: boolean;
  /** Names of the procedures that the role may call. */
  procedures: string[];
  /** When the next sign-in is needed. */
  expires_at: string;
  /** Until when changes need no further sign-in. */
  may_change_until: string;
  version: string;
  mode: "production" | "development";
}

/** Describes the account that is signed in to the console. */
export async function whoIsSignedIn(runtime: Runtime, visitor: ConsoleVisitor): Promise<Me> {
  const { config } = runtime;
  const { tenantId, userId, role, authenticatedAt, expiresAt } = visitor;
  const tenant = tenantId === runtime.tenant.id ? runtime.tenant : await runtime.tenants.byId(tenantId);
  const own = tenant ?? runtime.tenant;
  const user = await readUserObject(runtime.database.read, own, userId);
  const [email] = user?.emails ?? [];
  const changes = new Date(authenticatedAt.getTime() + config.console.step_up_after * 1000);
  return {
    user: { id: userId, name: user?.username?.username ?? email?.address ?? userId },
    role,
    tenant: { id: own.id, name: own.config.service.name, url: own.config.base_url },
    is_default_tenant: own.id === runtime.tenant.id,
    procedures: [...consoleOperations.values()]
      .filter(({ operation }) => !operation.keysOnly && mayAs(role, operation.role))
      .map(({ operation }) => operation.id),
    expires_at: expiresAt.toISOString(),
    may_change_until: changes.toISOString(),
    version: thisRelease().version,
    mode: config.mode,
  };
}
