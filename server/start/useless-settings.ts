import type { Config } from "../config/schema.ts";
import { unmatchableRedirects } from "../redirects/unmatchable-entries.ts";
import { malformedClaimTemplates } from "../sessions/claim-template.ts";

/** Returns one line for each setting that is accepted and has no effect, for the log of a start. */
export function uselessSettings(config: Config): string[] {
  return [
    ...config.ignored.map(({ line }) => line),
    ...unmatchableRedirects(config),
    ...malformedClaimTemplates(config.session.jwt_template.claims, "STILE_SESSION_JWT_TEMPLATE_CLAIMS"),
    ...malformedClaimsOfClients(config),
    ...staleSecurityTxt(config),
    ...numbersOfNoCountry(config),
  ];
}

function malformedClaimsOfClients({ openid }: Config): string[] {
  return Object.entries(openid.clients).flatMap(([id, { claims, access_token_claims }]) =>
    [claims, access_token_claims].flatMap((templates) =>
      malformedClaimTemplates(templates, `STILE_OPENID_CLIENTS (${id})`),
    ),
  );
}

function staleSecurityTxt({ well_known }: Config): string[] {
  const { expires } = well_known.security_txt;
  return expires && Date.parse(expires) <= Date.now()
    ? ["STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES has passed: /.well-known/security.txt does not exist any more"]
    : [];
}

function numbersOfNoCountry({ phone }: Config): string[] {
  return phone.enabled && phone.allowed_countries.length === 0
    ? [
        "STILE_PHONE_ENABLED is true, and STILE_PHONE_ALLOWED_COUNTRIES is empty: no telephone number is accepted",
      ]
    : [];
}
