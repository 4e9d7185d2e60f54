import type { Config } from "../../config/schema.ts";
import { apple } from "./apple.ts";
import { custom } from "./custom.ts";
import { discord } from "./discord.ts";
import { facebook } from "./facebook.ts";
import { github } from "./github.ts";
import { google } from "./google.ts";
import { linkedin } from "./linkedin.ts";
import { microsoft } from "./microsoft.ts";
import type { Provider } from "./provider.ts";

type Settings = Config["third_party"]["providers"];

/** The built-in providers, in the order in which they are offered. */
const builtIn: { [Id in keyof Settings]: (settings: Settings[Id]) => Provider } = {
  apple,
  discord,
  github,
  google,
  linkedin,
  microsoft,
  facebook,
};

/** The providers that people may sign in by here: built-in ones in their order, then the operator's own by name. */
export function enabledOAuthProviders({ third_party }: Config): Provider[] {
  const known = Object.entries(builtIn).flatMap(([id, make]) => {
    const settings = third_party.providers[id as keyof Settings];
    return settings.enabled ? [make(settings as never)] : [];
  });
  const own = Object.entries(third_party.custom_providers)
    .filter(([, { enabled }]) => enabled)
    .map(([key, settings]) => custom(key, settings))
    .toSorted((one, other) => one.name.localeCompare(other.name, "en"));
  return [...known, ...own];
}

/** @param id `google`, `custom_acme`; null for one that is not enabled */
export function findProvider(config: Config, id: string): Provider | null {
  return enabledOAuthProviders(config).find((provider) => provider.id === id) ?? null;
}
