import type { Handler } from "../handler-context.ts";
import { flowHandler, refuseFlow } from "./call-flow.ts";

const perform = flowHandler("token_exchange");

/**
 * `POST /token_exchange`: the flow of a person whom an identity provider sent without being asked. There is none
 * while SAML is off, which alone has such providers.
 */
export const tokenExchangeHandler: Handler = (context) =>
  context.tenant.config.saml.enabled ? perform(context) : refuseFlow("forbidden");
