import { z } from "zod";
import type { Config } from "../config/schema.ts";

/** What users are told of an application. */
export const application = z.object({
  name: z.string(),
  uri: z.string().optional(),
  policy_uri: z.string().optional(),
  tos_uri: z.string().optional(),
  /** The operator has listed it, or it describes itself. */
  origin: z.enum(["listed", "document", "registration"]),
});

export type Application = z.output<typeof application>;

/** What the operator says of a client; null if it is not listed. */
export function listedApplication({ openid }: Pick<Config, "openid">, clientId: string): Application | null {
  const client = Object.hasOwn(openid.clients, clientId) ? openid.clients[clientId] : undefined;
  if (!client) return null;
  const { name, client_uri: uri, policy_uri, tos_uri } = client;
  return applicationOf({ name, uri, policy_uri, tos_uri, origin: "listed" });
}

/** The name of an application. A client of which nothing is known any more has its id.
 *
 * @param described what it said of itself when it was allowed
 */
export function applicationName(config: Config, id: string, described: unknown): string {
  const known = listedApplication(config, id) ?? application.safeParse(described).data;
  return known?.name ?? id;
}

/** Leaves out what is not told. */
export function applicationOf({ uri, policy_uri, tos_uri, ...rest }: Loose): Application {
  return {
    ...rest,
    ...(uri === undefined ? {} : { uri }),
    ...(policy_uri === undefined ? {} : { policy_uri }),
    ...(tos_uri === undefined ? {} : { tos_uri }),
  };
}

type Loose = { [Name in keyof Application]: Application[Name] | undefined } & Pick<
  Application,
  "name" | "origin"
>;
