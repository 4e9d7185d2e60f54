import { capabilitiesInput, capabilitiesOf } from "../capabilities.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { go } from "../outcome.ts";

/** The client reports the capabilities of its browser. */
export const preflight = state({
  name: "preflight",
  actions: (action) => ({
    register_client_capabilities: action({
      impersonated: true,
      description: "Report the capabilities of this client.",
      input: capabilitiesInput,
      to: [NEXT],
      run: (_, input) => go(NEXT, { data: { capabilities: capabilitiesOf(input) } }),
    }),
  }),
});
