import { state } from "../define.ts";

/** The user has answered an application; the browser goes on at `redirect_url`, which leads back to it. A device goes on itself. */
export const consentAnswered = state({ name: "consent_answered", actions: () => ({}) });
