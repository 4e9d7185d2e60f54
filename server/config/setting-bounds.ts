import { type SettingSchema, settingSchema } from "./setting-schema.ts";

/** A setting, or a value in a list or map of one, with its bounds. */
export interface SettingBounds {
  /** Names of sections and members; `[]` for each item of a list, `{}` for each member of a map, `{key}` for its keys. */
  path: readonly string[];
  kind: "text" | "choice" | "number" | "boolean" | "list" | "map" | "json";
  /** Characters of a text, items of a list, members of a map, or the highest number. */
  max?: number;
  min?: number;
  /** Nested levels of JSON. */
  levels?: number;
  /** Accepted values of a choice. */
  values?: readonly unknown[];
  /** What a number counts, where it is a duration. */
  unit?: "seconds";
  /** Further bounds. */
  note?: string;
}

/** Lists every setting with its bounds, as the schema declares them. */
export function settingBounds(): SettingBounds[] {
  return walk(settingSchema(), []);
}

function walk(schema: SettingSchema, path: readonly string[]): SettingBounds[] {
  if (schema.maxJsonCharacters !== undefined) {
    const bounds = { max: schema.maxJsonCharacters, levels: schema.maxJsonLevels ?? 0 };
    return [{ path, kind: "json", ...bounds }];
  }
  // A map whose keys are listed is a section.
  const { properties, additionalProperties, propertyNames, items } = schema;
  if (propertyNames?.enum && typeof additionalProperties === "object") {
    const members = propertyNames.enum.map((name) => [String(name), additionalProperties] as const);
    return members.flatMap(([name, member]) => walk(member, [...path, name]));
  }
  if (properties)
    return Object.entries(properties).flatMap(([name, member]) => walk(member, [...path, name]));
  if (schema.type === "object")
    return [
      bounded({ path, kind: "map" }, undefined, schema.maxProperties),
      ...walk(propertyNames ?? {}, [...path, "{key}"]),
      ...walk(typeof additionalProperties === "object" ? additionalProperties : {}, [...path, "{}"]),
    ];
  if (schema.type === "array")
    return [
      bounded({ path, kind: "list" }, schema.minItems, schema.maxItems),
      ...walk(items ?? {}, [...path, "[]"]),
    ];
  return [scalar(schema, path)];
}

function scalar(schema: SettingSchema, path: readonly string[]): SettingBounds {
  if (schema.enum) return { path, kind: "choice", values: schema.enum };
  if (schema.type === "boolean") return { path, kind: "boolean" };
  // A duration is a number, or a text of a number and a unit.
  if (schema.anyOf || schema.type === "integer" || schema.type === "number")
    return {
      ...bounded({ path, kind: "number" }, schema.minimum, schema.maximum),
      ...(schema.unit === undefined ? {} : { unit: schema.unit }),
    };
  return {
    ...bounded({ path, kind: "text" }, schema.minLength, schema.maxLength),
    ...(schema.wildcards === undefined ? {} : { note: schema.wildcards }),
  };
}

function bounded(setting: SettingBounds, min: number | undefined, max: number | undefined): SettingBounds {
  return { ...setting, ...(min ? { min } : {}), ...(max === undefined ? {} : { max }) };
}
