/** The context that the secret of a stored webhook is sealed for. */
export const webhookSecretContext = (tenantId: string, id: string) => `webhooks/${tenantId}/${id}/secret`;

/** The same of the secret before the last rotation. */
export const previousSecretContext = (tenantId: string, id: string) =>
  `webhooks/${tenantId}/${id}/previous-secret`;

/** The context that the data of an event is sealed for. */
export const eventDataContext = (tenantId: string, eventId: string) => `events/${tenantId}/${eventId}/data`;
