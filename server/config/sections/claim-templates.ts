import type { z } from "zod";
import { freeJson, key, map } from "./leaves.ts";

/** The rule that claims by name have none of the reserved names. */
export const withoutClaims =
  (reserved: ReadonlySet<string>) => (claims: Record<string, unknown>, context: z.RefinementCtx) => {
    const refused = Object.keys(claims).find((name) => name === "" || reserved.has(name));
    if (refused !== undefined)
      context.addIssue({ code: "custom", message: `cannot set the claim "${refused}"` });
  };

/**
 * Claims of a token by name: constants, or templates over `.User`.
 *
 * @param reserved names that they cannot have
 */
export const claimTemplates = (reserved: ReadonlySet<string>) =>
  map(key(), freeJson({ characters: 4096, levels: 8 }), 50)
    .superRefine(withoutClaims(reserved))
    .default({});
