import { createStile } from "@stile-auth/server";
import { headers } from "next/headers";

export const stileUrl = process.env.STILE_URL ?? "http://localhost:3000";
export const appUrl = process.env.APP_URL ?? "http://localhost:4000";

export const stile = createStile({ baseUrl: stileUrl });

/** The session of the current request, checked with Stile: one that was ended elsewhere is not valid. */
export const session = async () => stile.verifySession({ headers: await headers() });

/** The hosted page, which leads back to a page of this application. */
export const signInUrl = (path) => `${stileUrl}/login?redirect_to=${encodeURIComponent(appUrl + path)}`;
