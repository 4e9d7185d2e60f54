export * from "./authenticator.ts";
export * from "./flows.ts";
export * from "./limits.ts";
export * from "./passkey-server.ts";
export * from "./records.ts";
export * from "./sessions.ts";
export * from "./tenants.ts";
export * from "./users.ts";
