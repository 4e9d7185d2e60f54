import type { Account, AccountClaims, KoaContextWithOIDC } from "oidc-provider";
import type { Databases } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { Metadata } from "#db/schema/users";
import type { TenantContext } from "../context/context.ts";
import { pictureAddress } from "../identity/picture.ts";
import type { Json } from "../lib/go-template.ts";
import type { Logs } from "../observability/logger.ts";
import type { TemplateUser } from "../sessions/claim-template.ts";
import { claimsOfClient, hasClaims } from "./client-claims.ts";
import { claimsOfOwnScopes, mayAskForOwnScopes, type OperatorMetadata } from "./scope-claims.ts";
import { subjectFor } from "./subjects.ts";

/** What the account says of the user, by the names of OpenID Connect Core, 5.1. */
interface StandardClaims {
  name: string | null;
  given_name: string | null;
  family_name: string | null;
  preferred_username: string | null;
  picture: string | null;
  locale: string | null;
  updated_at: number;
  email: string | null;
  email_verified: boolean | null;
  phone_number: string | null;
  phone_number_verified: boolean | null;
}

/** Where a client is told some of it; else it is not read. */
interface StoredMetadata {
  public_metadata?: Metadata;
  private_metadata?: Metadata;
  unsafe_metadata?: Metadata;
}

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
  const { runtime, tenant } = context;
  const { config } = tenant;
  const clientId = ctx.oidc.client?.clientId ?? "";
  const readsMetadata = hasClaims(config, clientId) || mayAskForOwnScopes(config, clientId);
  const [row] = await queryPrepared<StandardClaims & StoredMetadata, "read">(runtime.database, "read", {
    ...(readsMetadata ? withMetadata : withoutMetadata),
    values: [tenant.id, accountId],
  });
  if (!row) return undefined;
  const { public_metadata = {}, private_metadata = {}, unsafe_metadata = {}, ...stored } = row;
  const standard = { ...stored, picture: pictureAddress(config, stored.picture) };
  const known = Object.entries(standard).filter(([, value]) => value !== null);
  const user: TemplateUser = {
    // The client knows the user by no other.
    id: subjectFor(config, clientId, accountId),
    email: standard.email,
    emailVerified: standard.email_verified ?? false,
    username: standard.preferred_username,
    name: standard.name,
    givenName: standard.given_name,
    familyName: standard.family_name,
    picture: standard.picture,
    publicMetadata: public_metadata,
    unsafeMetadata: unsafe_metadata,
  };
  return {
    accountId,
    async claims(_, scope, named) {
      // The library passes those of APIs too, of which one may have become a scope about users since it was granted.
      const scopes = ctx.oidc.grant?.getOIDCScopeFiltered(new Set(scope.split(" "))).split(" ") ?? [];
      const granted = { scopes, claims: Object.keys(named) };
      const metadata = { public: public_metadata, private: private_metadata } as OperatorMetadata;
      return {
        ...claimsOfClient(context, clientId, "claims", user),
        ...claimsOfOwnScopes(context, clientId, granted, metadata),
        ...Object.fromEntries(known),
        sub: accountId,
      } as AccountClaims;
    },
    accessTokenClaims: () => claimsOfClient(context, clientId, "access_token_claims", user),
  };
}

const accountText = (metadata: string) => `
  select u.name, u.given_name, u.family_name, n.username as preferred_username, u.picture, u.language as locale,
    extract(epoch from u.updated_at)::int as updated_at,
    e.address as email, case when e.address is not null then e.verified_at is not null end as email_verified,
    p.number as phone_number, case when p.number is not null then p.verified_at is not null end as phone_number_verified
    ${metadata}
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary
  left join usernames n on n.tenant_id = u.tenant_id and n.user_id = u.id
  left join phone_numbers p on p.tenant_id = u.tenant_id and p.user_id = u.id
  where u.tenant_id = $1 and u.id = $2 and u.blocked_at is null`;

const withoutMetadata = { name: "openid_account", text: accountText("") };

/** The same statement with more columns, so that claims of metadata take none more. */
const withMetadata = {
  name: "openid_account_with_metadata",
  text: accountText(", u.public_metadata, u.private_metadata, u.unsafe_metadata"),
};
