import { z } from "zod";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { go } from "../outcome.ts";

const capability = () => z.boolean().default(false).meta({ hidden: true, announcedRequired: true });

/** The client reports the capabilities of its browser. */
export const preflight = state({
  name: "preflight",
  actions: (action) => ({
    register_client_capabilities: action({
      description: "Report the capabilities of this client.",
      input: z.strictObject({
        webauthn_available: capability(),
        webauthn_conditional_mediation_available: capability(),
        webauthn_platform_authenticator_available: capability(),
      }),
      to: [NEXT],
      run: (_, input) =>
        go(NEXT, {
          data: {
            capabilities: {
              webauthn: input.webauthn_available,
              conditionalMediation: input.webauthn_conditional_mediation_available,
              platformAuthenticator: input.webauthn_platform_authenticator_available,
            },
          },
        }),
    }),
  }),
});
