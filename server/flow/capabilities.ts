import { z } from "zod";
import type { FlowData } from "./data.ts";

/** What a client reports about its browser; the last two are false where they are missing. */
export const capabilitiesInput = z.strictObject({
  webauthn_available: z.boolean().meta({ hidden: true, preset: false }),
  webauthn_conditional_mediation_available: z.boolean().default(false).meta({ hidden: true }),
  webauthn_platform_authenticator_available: z.boolean().default(false).meta({ hidden: true }),
});

/** What a call that starts a flow may say of the browser: a missing capability is false. */
export const startCapabilities = capabilitiesInput.partial();

export type ReportedCapabilities = z.output<typeof startCapabilities>;

/** The action of `preflight`. */
export const REPORT_CAPABILITIES = "register_client_capabilities";

type Capabilities = NonNullable<FlowData["capabilities"]>;

/** The input of `register_client_capabilities`, of what is reported. */
export function capabilitiesInputOf(reported: ReportedCapabilities): z.output<typeof capabilitiesInput> {
  return {
    webauthn_available: reported.webauthn_available ?? false,
    webauthn_conditional_mediation_available: reported.webauthn_conditional_mediation_available ?? false,
    webauthn_platform_authenticator_available: reported.webauthn_platform_authenticator_available ?? false,
  };
}

/** The action that reports capabilities alone, with its input. */
export function capabilitiesReport(reported: ReportedCapabilities) {
  return { action: REPORT_CAPABILITIES, input: capabilitiesInputOf(reported) };
}

/** The reported capabilities, as a flow keeps them. */
export function capabilitiesOf(reported: ReportedCapabilities): Capabilities {
  const input = capabilitiesInputOf(reported);
  return {
    webauthn: input.webauthn_available,
    conditionalMediation: input.webauthn_conditional_mediation_available,
    platformAuthenticator: input.webauthn_platform_authenticator_available,
  };
}

/** Capabilities of a browser that has not reported any. Current browsers support WebAuthn. */
export const assumedCapabilities: Capabilities = {
  webauthn: true,
  conditionalMediation: false,
  platformAuthenticator: false,
};
