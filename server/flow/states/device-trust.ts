import { always } from "../../conditions/condition.ts";
import { back } from "../actions/back.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { next } from "../outcome.ts";

/** The user decides whether to trust this device, so that it skips the second factor. */
export const deviceTrust = state({
  name: "device_trust",
  needs: ["userId"],
  actions: (action) => ({
    trust_device: action({
      description: "Do not ask for the second factor on this device again for a while.",
      to: [NEXT],
      run: () => next({ data: { trustsDevice: true } }),
    }),
    skip: skip(always),
    back,
  }),
});
