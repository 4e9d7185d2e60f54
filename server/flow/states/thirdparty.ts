import { back } from "../actions/back.ts";
import { exchangeToken } from "../actions/exchange-token.ts";
import { state } from "../define.ts";

/**
 * The user is at an identity provider, redirected to `payload.redirect_url`, and returns with a token. The first state
 * of flows that an identity provider starts.
 */
export const thirdparty = state({
  name: "thirdparty",
  actions: () => ({ exchange_token: exchangeToken, back }),
});
