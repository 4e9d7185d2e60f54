/** What a provider of the benchmark is started with. */
export interface OpenidSettings {
  client: { id: string; secret: string; redirectUri: string };
  scope: string;
  /** What UserInfo says of every user. */
  claims: Record<string, unknown>;
}

export const settings: OpenidSettings = {
  client: {
    id: "shop",
    secret: "a secret of the benchmark that has enough characters",
    redirectUri: "https://shop.example/callback",
  },
  scope: "openid email",
  claims: { email: "ada@example.com", email_verified: true },
};
