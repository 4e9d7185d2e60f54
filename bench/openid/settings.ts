/** What a provider of the benchmark is started with. */
export interface OpenidSettings {
  client: { id: string; secret: string; redirectUri: string };
  scope: string;
  /** What UserInfo says of every user. */
  claims: Record<string, unknown>;
}
