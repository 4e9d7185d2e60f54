/** Makes and sends one signal of OpenTelemetry. */
export interface Provider {
  flush(): Promise<void>;
  /** Sends what waits. */
  shutdown(): Promise<void>;
}
