import { createHmac } from "node:crypto";
import type { Config } from "../config/schema.ts";

/**
 * What a client knows a user by (OpenID Connect Core, 8): the id of the account, or a name that no client on another host
 * can compare with its own (pairwise, 8.1).
 *
 * @param clientId of a client that signs users in
 */
export function subjectFor({ openid }: Pick<Config, "openid">, clientId: string, userId: string): string {
  const client = Object.hasOwn(openid.clients, clientId) ? openid.clients[clientId] : undefined;
  const [address] = client?.redirect_uris ?? [];
  if (client?.subject_type !== "pairwise" || address === undefined) return userId;
  const { host } = new URL(address);
  return createHmac("sha256", openid.pairwise_salt ?? "")
    .update(`${host} ${userId}`)
    .digest("base64url");
}
