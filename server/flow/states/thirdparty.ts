import { back } from "../actions/back.ts";
import { exchangeToken } from "../actions/exchange-token.ts";
import { state } from "../define.ts";

/**
 * The person is at an identity provider, where `payload.redirect_url` has sent them, and comes back with a token. A
 * flow that an identity provider started begins here.
 */
export const thirdparty = state({
  name: "thirdparty",
  actions: () => ({ exchange_token: exchangeToken, back }),
});
