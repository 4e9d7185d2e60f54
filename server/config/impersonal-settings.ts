import { onceFor } from "../lib/once-for.ts";
import { isTree, merge, type Tree, valueAt, withValueAt } from "../lib/tree.ts";
import { configLeaves } from "./load.ts";
import { type Config, configSchema } from "./schema.ts";
import { type SettingSchema, settingSchema } from "./setting-schema.ts";

/**
 * Settings without secrets and without texts that an operator has written: names, hosts, addresses, keys and words. The
 * declaration of a setting decides: flags, numbers and choices stay, as do texts that are its default and those that
 * are declared as `impersonal`. Any other text is replaced.
 */

/** Stands for a text that is replaced. In a list it is followed by the position of its entry. */
const REPLACED = "~";

/** Returns the settings of a configuration without what is secret or personal. */
export const impersonalSettings = onceFor((config: Config): Tree => {
  const { sources, ignored, ...settings } = config;
  return impersonal(settingSchema(), settings, "") as Tree;
});

function impersonal(schema: SettingSchema, value: unknown, position: string): unknown {
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return holdsNumbers(schema) ? value : 0;
  if (typeof value === "string") return isImpersonal(schema, value) ? value : `${REPLACED}${position}`;
  if (Array.isArray(value))
    return value.map((entry, index) => impersonal(schema.items ?? {}, entry, String(index)));
  if (!isTree(value)) return undefined;
  const { properties = {}, additionalProperties: member, propertyNames } = schema;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, own], index) => {
      if (own === undefined) return [];
      const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (declared) return [[name, impersonal(declared, own, position)]];
      const shown = propertyNames?.impersonal ? name : `${REPLACED}${index}`;
      return [[shown, impersonal(typeof member === "object" ? member : {}, own, position)]];
    }),
  );
}

const typesOf = ({ type, anyOf = [] }: SettingSchema) => [type, ...anyOf.map((option) => option.type)].flat();

/** A number in free JSON could be anything. */
const holdsNumbers = (schema: SettingSchema) =>
  schema.maxJsonCharacters === undefined &&
  typesOf(schema).some((type) => type === "number" || type === "integer" || type === "string");

function isImpersonal(
  { secret, impersonal, enum: values, anyOf = [], default: own, const: only }: SettingSchema,
  text: string,
) {
  if (secret) return false;
  const options = [...(values ?? []), ...anyOf.flatMap((option) => [...(option.enum ?? []), option.const])];
  return impersonal === true || text === own || text === only || options.includes(text);
}

/**
 * Returns a configuration with recorded settings. What they do not have, as another version may have recorded them, or
 * have with another type, is the default.
 */
export function configOfImpersonal(recorded: unknown): Config {
  const defaults = configSchema.parse({}) as unknown as Tree;
  let settings = defaults;
  for (const { path, type } of configLeaves()) {
    const value = isTree(recorded) ? valueAt(recorded, path) : undefined;
    if (value !== undefined && isOfType(type, value)) settings = withValueAt(settings, path, value);
  }
  return merge({ sources: {}, ignored: [], mode: "production" }, settings) as unknown as Config;
}

function isOfType(type: ReturnType<typeof configLeaves>[number]["type"], value: unknown): boolean {
  switch (type) {
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "object":
      return isTree(value);
    case "number":
      return typeof value === "number";
    default:
      // A duration is written as a text, and read as a number.
      return typeof value === "number" || typeof value === "string";
  }
}

/** A setting that two recorded configurations differ in. */
export interface ChangedSetting {
  name: string;
  before: unknown;
  now: unknown;
}

/** Lists the settings that differ. */
export function changedSettings(before: Tree, now: Tree): ChangedSetting[] {
  return configLeaves().flatMap(({ path }) => {
    const [one, other] = [valueAt(before, path), valueAt(now, path)];
    return JSON.stringify(one) === JSON.stringify(other)
      ? []
      : [{ name: path.join("."), before: one ?? null, now: other ?? null }];
  });
}
