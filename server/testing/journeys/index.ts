import { codesBySms } from "./codes-by-sms.ts";
import type { Journey } from "./journey.ts";
import { logins } from "./logins.ts";
import { profiles } from "./profiles.ts";
import { providerSignIns } from "./provider-sign-ins.ts";
import { registrations } from "./registrations.ts";
import { secondFactorLogins } from "./second-factor-logins.ts";

/** The journeys of users through the flows, codes by SMS apart. */
export const journeys: Journey[] = [
  ...registrations,
  ...logins,
  ...secondFactorLogins,
  ...providerSignIns,
  ...profiles,
];

/** Together they stop in every state but those of applications. They need `smsSettings`. */
export const allJourneys: Journey[] = [...journeys, ...codesBySms];
