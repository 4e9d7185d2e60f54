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

/** The built-in providers in the order of their buttons, unless the configuration has another one. The settings of the configuration determine which there must be. */
const builtIn: { [Id in keyof Settings]: (settings: Settings[Id]) => Provider } = {
  apple,
  discord,
  github,
  google,
  linkedin,
  microsoft,
  facebook,
};

/**
 * Returns the enabled providers in the order of their buttons: those that `third_party.order` names, then the other
 * built-in ones in their order, then the other custom ones by name.
 */
export function enabledOAuthProviders({ third_party }: Config): Provider[] {
  const known = Object.entries(builtIn).flatMap(([id, make]) => {
    const settings = third_party.providers[id as keyof Settings];
    return settings.enabled ? [make(settings as never)] : [];
  });
  const customProviders = Object.entries(third_party.custom_providers)
    .filter(([, { enabled }]) => enabled)
    .map(([key, settings]) => custom(key, settings))
    .toSorted((one, other) => one.name.localeCompare(other.name, "en"));
  const { order } = third_party;
  const placeOf = ({ id }: Provider) => (order.includes(id) ? order.indexOf(id) : order.length);
  return [...known, ...customProviders].toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** @returns null if no enabled provider has the id, such as `google` or `custom_acme` */
export function findProvider(config: Config, id: string): Provider | null {
  return enabledOAuthProviders(config).find((provider) => provider.id === id) ?? null;
}
