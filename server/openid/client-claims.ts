import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import type { Json } from "../lib/go-template.ts";
import type { Logs } from "../observability/logger.ts";
import { describeUser, evaluateClaims, type TemplateUser } from "../sessions/claim-template.ts";
import { told } from "./told-claims.ts";

/** Claims that the operator adds for a client, by constants and templates. Only its own clients have any. */

type Setting = "claims" | "access_token_claims";

/**
 * Evaluates the claims of a client for a user. One whose template fails, and one that would make the token too long, is logged
 * and left out.
 */
export function claimsOfClient(
  context: TenantContext<Logs>,
  clientId: string,
  setting: Setting,
  user: TemplateUser,
): Record<string, Json> {
  const configured = claimsIn(context.tenant.config, clientId, setting);
  if (Object.keys(configured).length === 0) return {};
  return told(context, evaluateClaims(configured, describeUser(user)), {
    client: clientId,
    setting: `openid.clients ${setting}`,
  });
}

function claimsIn({ openid }: Pick<Config, "openid">, clientId: string, setting: Setting) {
  return Object.hasOwn(openid.clients, clientId) ? (openid.clients[clientId]?.[setting] ?? {}) : {};
}
