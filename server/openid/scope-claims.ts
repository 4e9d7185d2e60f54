import type { TenantContext } from "../context/context.ts";
import type { Json } from "../lib/go-template.ts";
import type { Logs } from "../observability/logger.ts";
import { boundedClaims, type PendingClaim } from "../sessions/claim-template.ts";
import { jsonPath } from "../sessions/json-path.ts";
import { told } from "./told-claims.ts";
import { scopesOfClient } from "./unlisted-clients.ts";

/** Claims of the operator's scopes (`openid.scopes`), which are read from what the operator writes of an account. */

/**
 * Limit of these claims in an answer, in bytes of JSON. With those of templates an ID token stays below the 8 KiB that servers
 * take as one line of a request, where it is a hint.
 */
export const MAX_SCOPE_CLAIM_BYTES = 3072;

/** The metadata that scopes may read. */
export interface OperatorMetadata {
  public: Json;
  private: Json;
}

/**
 * Reads the claims that a client has been granted and may still ask for. An absent member is no claim; one that would make the
 * token too long is logged and left out.
 *
 * @param granted `scopes`, and claims that are asked for by name (OpenID Connect Core, 5.5)
 */
export function claimsOfOwnScopes(
  context: TenantContext<Logs>,
  clientId: string,
  granted: { scopes: readonly string[]; claims: readonly string[] },
  metadata: OperatorMetadata,
): Record<string, Json> {
  const { config } = context.tenant;
  const released = scopesOfClient(config, clientId)
    .filter((scope) => Object.hasOwn(config.openid.scopes, scope))
    .flatMap((scope) =>
      Object.entries(config.openid.scopes[scope]?.claims ?? {}).filter(
        ([claim]) => granted.scopes.includes(scope) || granted.claims.includes(claim),
      ),
    );
  if (released.length === 0) return {};
  const pending = released.map(([claim, place]) => {
    const kind = place.startsWith("private.") ? "private" : "public";
    const path = place.slice(kind.length + 1);
    const evaluate: PendingClaim["evaluate"] = ({ steps }) => jsonPath(metadata[kind], path, steps);
    return { claim, evaluate };
  });
  return told(context, boundedClaims(pending, MAX_SCOPE_CLAIM_BYTES), {
    client: clientId,
    setting: "openid.scopes",
  });
}
