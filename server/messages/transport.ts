/** Hands messages to the server of a channel. */
export interface Transport<Outgoing> {
  /**
   * Resolves when another system has accepted responsibility for the message, with its answer.
   *
   * @throws PermanentFailure if it will never be accepted
   */
  send(message: Outgoing, signal: AbortSignal): Promise<string>;
  close(): void;
}

/** The transport without a server: a later attempt succeeds once there is one. */
export function missingTransport(code: string, message: string): Transport<unknown> {
  return {
    async send() {
      throw Object.assign(new Error(message), { code });
    },
    close() {},
  };
}
