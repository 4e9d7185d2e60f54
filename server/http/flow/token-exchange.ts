import type { Handler } from "../table/handler-context.ts";
import { flowError, flowHandler } from "./call-flow.ts";

const handleFlow = flowHandler("token_exchange");

/** `POST /token_exchange`: the flow after an IdP-initiated sign-on. Forbidden while SAML is disabled. */
export const tokenExchangeHandler: Handler = (context) => {
  const { config } = context.tenant;
  return config.saml.enabled ? handleFlow(context) : flowError(config, "forbidden");
};
