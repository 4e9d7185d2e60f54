import { z } from "zod";
import { type ConsoleRole, consoleRoles } from "#db/schema/console-role";

/**
 * The service that acts, and the one that it acts for, if the subject token was itself given by an exchange (RFC 8693, 4.1). The
 * first actor may be an account of the console: its `sub` is unique in its issuer.
 */
export interface ActClaim {
  sub: string;
  iss?: string | undefined;
  role?: ConsoleRole | undefined;
  act?: ActClaim | undefined;
}

const actClaim: z.ZodType<ActClaim> = z.object({
  sub: z.string(),
  iss: z.string().optional(),
  role: z.enum(consoleRoles).optional(),
  act: z.lazy(() => actClaim).optional(),
});

/** What a token that is given for another one says as that does (RFC 9068, 2.2.1; RFC 8693, 4.1). */
export const carriedClaims = z.object({
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  auth_time: z.number().optional(),
  act: actClaim.optional(),
});

export type CarriedClaims = z.output<typeof carriedClaims>;

/** What is given for a subject token. */
export interface ExchangedToken {
  /** The service that gets it. */
  clientId: string;
  /** The client whose user has signed in. */
  forClientId: string;
  userId: string;
  resource: string;
  /** The name by which the subject token knows the user. */
  subject: string;
  claims: CarriedClaims;
}
