/** Source of randomness, identifiers and time shifts. Tests replace it. */
export interface Platform {
  randomBytes(size: number): Buffer;
  uuid(): string;
  /** Milliseconds that this server's clock is ahead of the database's; 0 outside tests. */
  clockShift(): number;
}

/** What needs randomness, identifiers or the time. */
export interface OnPlatform {
  platform: Platform;
}
