import { z } from "zod";
import type { FlowData } from "./data.ts";

const capability = () => z.boolean().default(false).meta({ hidden: true, announcedRequired: true });

/** What a client reports about its browser. A missing capability is false. */
export const capabilitiesInput = z.strictObject({
  webauthn_available: capability(),
  webauthn_conditional_mediation_available: capability(),
  webauthn_platform_authenticator_available: capability(),
});

/** What a client may send as `capabilitiesInput`. */
export type ReportedCapabilities = z.input<typeof capabilitiesInput>;

type Capabilities = NonNullable<FlowData["capabilities"]>;

/** The reported capabilities, as a flow keeps them. */
export function capabilitiesOf(reported: ReportedCapabilities): Capabilities {
  return {
    webauthn: reported.webauthn_available ?? false,
    conditionalMediation: reported.webauthn_conditional_mediation_available ?? false,
    platformAuthenticator: reported.webauthn_platform_authenticator_available ?? false,
  };
}

/** Capabilities of a browser that has not reported any. Current browsers support WebAuthn. */
export const assumedCapabilities: Capabilities = {
  webauthn: true,
  conditionalMediation: false,
  platformAuthenticator: false,
};
