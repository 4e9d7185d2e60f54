import type { Config } from "../config/schema.ts";
import { unmatchableRedirects } from "../redirects/unmatchable-entries.ts";
import { malformedClaimTemplates } from "../sessions/claim-template.ts";

/** Returns one line for each setting that is accepted and cannot have an effect, for the log of a start. */
export function uselessSettings(config: Config): string[] {
  return [...unmatchableRedirects(config), ...malformedClaimTemplates(config.session.jwt_template.claims)];
}
