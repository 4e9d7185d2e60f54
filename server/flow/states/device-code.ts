import { z } from "zod";
import { placeOf } from "../../account/belongings.ts";
import { locate } from "../../locations/location.ts";
import { MAX_USER_CODE_CHARACTERS } from "../../openid/user-code.ts";
import { state, type View } from "../define.ts";
import { go, rateLimited, reject } from "../outcome.ts";

/** The user enters the code that a device shows (RFC 8628, 3.3). */
export const deviceCode = state({
  name: "device_code",
  needs: ["userId"],
  actions: (action) => ({
    device_code_verify: action({
      description: "Find the device that shows a code.",
      costs: ["write"],
      input: codeInput,
      to: ["consent"],
      errors: ["value_invalid_error", "rate_limit_exceeded"],
      async run({ request, data }, { user_code }) {
        const { runtime, tenant } = request;
        // Codes of others must not be found by guessing (RFC 8628, 5.1).
        const rate = await runtime.rates.consume(tenant.id, "device_code", data.userId);
        if (!rate.ok) return rateLimited(rate.retryAfterSeconds);
        const found = await runtime.openid.waitingDevice(tenant, user_code, data.userId);
        if (!found) return reject("value_invalid_error", { input: "user_code" });
        const { authorization, code, userAgent, ip } = found;
        const place = placeOf({ userAgent, ipAddress: ip }, (address) => locate(runtime, address));
        const device = { code, ...place };
        return go("consent", { data: { authorization: { ...authorization, device }, userCode: undefined } });
      },
    }),
  }),
});

/** The code stands in the address that the device shows, for its user to compare (3.3.1). */
function codeInput({ data }: View) {
  const code = z.string().min(1).max(MAX_USER_CODE_CHARACTERS);
  return z.strictObject({ user_code: data.userCode ? code.meta({ preset: data.userCode }) : code });
}
