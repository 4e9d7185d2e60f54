import { clockDrills } from "./clocks.ts";
import { connectionDrills } from "./connections.ts";
import { databaseDrills } from "./database.ts";
import type { Drills } from "./drill.ts";
import { mailDrills } from "./mail.ts";
import { patroniDrills } from "./patroni.ts";
import { processDrills } from "./processes.ts";
import { replicaDrills } from "./replicas.ts";
import { webhookDrills } from "./webhooks.ts";

/** Every drill, in the order in which they are done. */
export const drills: Drills = {
  ...processDrills,
  ...databaseDrills,
  ...patroniDrills,
  ...replicaDrills,
  ...webhookDrills,
  ...mailDrills,
  ...clockDrills,
  ...connectionDrills,
};
