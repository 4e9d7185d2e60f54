import { sealContext } from "#db/schema/table";
import { events, webhooks } from "#db/schema/webhooks";

/** The context that the secret of a stored webhook is sealed for. */
export const webhookSecretContext = (tenantId: string, id: string) =>
  sealContext(webhooks, "sealedSecret", { tenantId, id });

/** The same of the secret before the last rotation. */
export const previousSecretContext = (tenantId: string, id: string) =>
  sealContext(webhooks, "sealedPreviousSecret", { tenantId, id });

/** The context that the data of an event is sealed for. */
export const eventDataContext = (tenantId: string, eventId: string) =>
  sealContext(events, "sealedData", { tenantId, id: eventId });
