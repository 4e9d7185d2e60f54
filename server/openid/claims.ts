import type { Account, AccountClaims, KoaContextWithOIDC } from "oidc-provider";
import type { Databases } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { TenantContext } from "../context/context.ts";
import { pictureAddress } from "../identity/picture.ts";
import type { Json } from "../lib/go-template.ts";
import type { Logs } from "../observability/logger.ts";
import type { TemplateUser } from "../sessions/claim-template.ts";
import { type ActorClaim, actorClaim } from "../sessions/impersonation.ts";
import { type AccountRow, accountRowText, tellsMetadata } from "./account-row.ts";
import { claimsOfClient } from "./client-claims.ts";
import { claimsOfOwnScopes, type OperatorMetadata } from "./scope-claims.ts";
import { subjectFor } from "./subjects.ts";
import { presentSession, presentVisitor } from "./visitor.ts";

/** The account of a user, as a client is told of it. */
export interface UserAccount extends Account {
  /** What is added to the client's access tokens for APIs. */
  accessTokenClaims(): Record<string, Json>;
}

/**
 * Finds the account of a token or session.
 *
 * @param ctx the request of the client that is told
 * @returns undefined if it was deleted, or is blocked: nothing is issued for it
 */
export async function findAccount(
  context: TenantContext<Databases & Logs>,
  ctx: KoaContextWithOIDC,
  accountId: string,
): Promise<UserAccount | undefined> {
  const { config } = context.tenant;
  const clientId = ctx.oidc.client?.clientId ?? "";
  const { account: read } = presentVisitor().readAhead ?? {};
  const row = read?.accountId === accountId ? read.row : await readAccount(context, accountId);
  if (!row) return undefined;
  const { public_metadata, private_metadata, unsafe_metadata, ...stored } = row;
  const standard = { ...stored, picture: pictureAddress(config, stored.picture) };
  const known = Object.entries(standard).filter(([, value]) => value !== null);
  const user: TemplateUser = {
    // The client knows the user by no other.
    id: presentVisitor().exchanged?.subject ?? subjectFor(config, clientId, accountId),
    email: standard.email,
    emailVerified: standard.email_verified ?? false,
    username: standard.preferred_username,
    name: standard.name,
    givenName: standard.given_name,
    familyName: standard.family_name,
    picture: standard.picture,
    publicMetadata: public_metadata ?? {},
    unsafeMetadata: unsafe_metadata ?? {},
  };
  return {
    accountId,
    async claims(_, scope, named) {
      // The library passes those of APIs too, of which one may have become a scope about users since it was granted.
      const scopes = ctx.oidc.grant?.getOIDCScopeFiltered(new Set(scope.split(" "))).split(" ") ?? [];
      const granted = { scopes, claims: Object.keys(named) };
      const metadata = { public: public_metadata ?? {}, private: private_metadata ?? {} } as OperatorMetadata;
      return {
        ...claimsOfClient(context, clientId, "claims", user),
        ...claimsOfOwnScopes(context, clientId, granted, metadata),
        ...Object.fromEntries(known),
        ...actingClaim(),
        sub: accountId,
      } as AccountClaims;
    },
    accessTokenClaims: () => claimsOfClient(context, clientId, "access_token_claims", user),
  };
}

/** Who acts as the user in the session of the request (RFC 8693, 4.1). */
export function actingClaim(): { act?: ActorClaim } {
  const session = presentSession();
  return session ? actorClaim(session) : {};
}

async function readAccount(
  { runtime, tenant }: TenantContext<Databases>,
  accountId: string,
): Promise<AccountRow | null> {
  const values = [tenant.id, accountId, tellsMetadata(tenant.config)];
  const query = { name: "openid_account", text: accountText, values };
  const [row] = await queryPrepared<AccountRow, "read">(runtime.database, "read", query);
  return row ?? null;
}

const accountText = `
  select ${accountRowText("$3::boolean")}
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary
  left join usernames n on n.tenant_id = u.tenant_id and n.user_id = u.id
  left join phone_numbers p on p.tenant_id = u.tenant_id and p.user_id = u.id
  where u.tenant_id = $1 and u.id = $2 and u.blocked_at is null`;
