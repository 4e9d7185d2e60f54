import type { Transport } from "../messages/transport.ts";

/** An SMS that is ready to be sent. */
export interface OutgoingSms {
  /** Identifier of the job, a UUID; an SMS that is sent twice has the same one. */
  id: string;
  /** E.164. */
  to: string;
  text: string;
  /** How long its code is still valid, in seconds; at least 1. */
  validSeconds: number;
}

export type SmsTransport = Pick<Transport<OutgoingSms>, "send">;
