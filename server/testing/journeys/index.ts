import type { Journey } from "./journey.ts";
import { logins } from "./logins.ts";
import { profiles } from "./profiles.ts";
import { providerSignIns } from "./provider-sign-ins.ts";
import { registrations } from "./registrations.ts";
import { secondFactorLogins } from "./second-factor-logins.ts";

/** The journeys of users through the flows. Together they stop in every state. */
export const journeys: Journey[] = [
  ...registrations,
  ...logins,
  ...secondFactorLogins,
  ...providerSignIns,
  ...profiles,
];
