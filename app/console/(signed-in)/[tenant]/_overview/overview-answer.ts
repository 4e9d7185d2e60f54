import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";

/** What the service has counted of a range, and of the one before. */
export type OverviewAnswer = AdminOperations["getOverview"]["answer"];
