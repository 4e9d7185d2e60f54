import { mapClaims } from "./claims.ts";
import { type BuiltInSettings, openIdProvider } from "./provider.ts";

const trueValues: unknown[] = [true, "true", 1, "1"];

/**
 * Microsoft Entra ID. Administrators of a directory can set any `email`, and `preferred_username` is not an address. So an
 * address is verified only if the directory has proved ownership of the domain (`xms_edov`, an optional claim that the
 * app registration must request), or a customer directory states `email_verified`.
 */
export const microsoft = (settings: BuiltInSettings & { tenant: string; rp_initiated_logout: boolean }) =>
  openIdProvider(settings, {
    id: "microsoft",
    name: "Microsoft",
    server: { issuer: `https://login.microsoftonline.com/${encodeURIComponent(settings.tenant)}/v2.0` },
    scopes: ["openid", "profile", "email"],
    reauthentication: { prompt: "login" },
    endsSession: settings.rp_initiated_logout,
    readStatement: async ({ claims }) => ({
      ...mapClaims(claims ?? {}),
      emailVerified: trueValues.includes(claims?.xms_edov) || claims?.email_verified === true,
    }),
  });
