import type { Metadata } from "#db/schema/users";
import type { Config } from "../config/schema.ts";

/** An account as statements read it for clients: claims by the names of OpenID Connect Core, 5.1, and metadata. */
export interface AccountRow {
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
  /** Null where no client is told of metadata. */
  public_metadata: Metadata | null;
  private_metadata: Metadata | null;
  unsafe_metadata: Metadata | null;
}

/** Whether a client of a tenant may be told something of the metadata of users; else they are not read. */
export function tellsMetadata({ openid }: Pick<Config, "openid">): boolean {
  const hasTemplates = Object.values(openid.clients).some(
    ({ claims, access_token_claims }) => Object.keys({ ...claims, ...access_token_claims }).length > 0,
  );
  return hasTemplates || Object.keys(openid.scopes).length > 0;
}

/**
 * The columns of an `AccountRow`, of rows `u`, `e`, `n` and `p` of `users`, `emails`, `usernames` and `phone_numbers`.
 *
 * @param metadata SQL: whether metadata are read
 * @param prefix of their names
 */
export function accountRowText(metadata: string, prefix = ""): string {
  const columns: Record<keyof AccountRow, string> = {
    name: "u.name",
    given_name: "u.given_name",
    family_name: "u.family_name",
    preferred_username: "n.username",
    picture: "u.picture",
    locale: "u.language",
    updated_at: "extract(epoch from u.updated_at)::int",
    email: "e.address",
    email_verified: "case when e.address is not null then e.verified_at is not null end",
    phone_number: "p.number",
    phone_number_verified: "case when p.number is not null then p.verified_at is not null end",
    public_metadata: `case when ${metadata} then u.public_metadata end`,
    private_metadata: `case when ${metadata} then u.private_metadata end`,
    unsafe_metadata: `case when ${metadata} then u.unsafe_metadata end`,
  };
  return Object.entries(columns)
    .map(([name, value]) => `${value} as "${prefix}${name}"`)
    .join(", ");
}
