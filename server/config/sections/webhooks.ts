import { z } from "zod";
import { subscribableEventNames } from "../event-names.ts";
import { flag, listOf, seconds, section } from "./leaves.ts";

const DAY_SECONDS = 86_400;

const hook = z.strictObject({
  callback: z.url({ protocol: /^https?$/, error: "has a callback that is not an address" }).max(2048),
  events: listOf(z.enum(subscribableEventNames, "has an unknown event")).min(1, "has a hook without events"),
  secret: z
    .string()
    .regex(
      /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
      "has a secret that is not whsec_ and 24 to 64 bytes in base64",
    )
    .max(96)
    .optional(),
});

/** Webhooks: events for servers of the operator. */
export const webhooks = section({
  enabled: flag(false).describe(
    "Deliver events to webhooks.hooks. Webhooks stored by /admin/webhooks are independent of it.",
  ),
  hooks: listOf(hook)
    .refine(
      (hooks) => new Set(hooks.map(({ callback }) => callback)).size === hooks.length,
      "has a callback twice",
    )
    .default([])
    .meta({ secret: true })
    .describe(
      'Webhooks of the configuration: callback, events, secret (whsec_ and base64; without one, deliveries carry no webhook-signature). Example: [{"callback":"https://app.example.com/events","events":["user"]}].',
    ),
  allow_time_expiration: flag(false).describe(
    "Whether a stored webhook gets no more events 30 days after its last successful delivery.",
  ),
  allow_private_targets: flag(false).describe(
    "Accept callbacks by http, and on private, loopback and link-local addresses. For development.",
  ),
  retention: seconds(30 * DAY_SECONDS, { min: 2 * DAY_SECONDS }).describe(
    "How long events and the record of their deliveries are kept for replays.",
  ),
});
