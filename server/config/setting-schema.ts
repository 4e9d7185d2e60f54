import { z } from "zod";
import { configSchema } from "./schema.ts";

/** JSON Schema of a setting or a section, as zod writes it, with what the leaves add to it. */
export interface SettingSchema {
  type?: string | string[];
  anyOf?: SettingSchema[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
  default?: unknown;
  properties?: Record<string, SettingSchema>;
  required?: string[];
  /** Schema of the members of a map. */
  additionalProperties?: SettingSchema | boolean;
  propertyNames?: SettingSchema;
  items?: SettingSchema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  maxJsonCharacters?: number;
  maxJsonLevels?: number;
  unit?: "seconds";
  wildcards?: string;
  secret?: boolean;
  impersonal?: boolean;
}

let whole: SettingSchema | undefined;

/** The schema of all settings, as they are written. */
export function settingSchema(): SettingSchema {
  whole ??= z.toJSONSchema(configSchema, { io: "input" }) as SettingSchema;
  return whole;
}

/** The schema of a member of a section or of a map; an empty one if it has none. */
export function schemaOf({ properties, additionalProperties }: SettingSchema, name: string): SettingSchema {
  if (properties && Object.hasOwn(properties, name)) return properties[name] ?? {};
  return typeof additionalProperties === "object" ? additionalProperties : {};
}
