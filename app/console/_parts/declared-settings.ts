import type { z } from "zod";
import { createConverter, type JsonSchema } from "#server/http/openapi/schemas";

/** What a form knows of a setting: its JSON Schema (2020-12), as `/openapi.json` has it. */
export interface DeclaredSetting {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  items?: { enum?: unknown[]; type?: string };
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  /** `color` and `image`: a field of its own, for a text that only a program writes well. */
  format?: string | undefined;
}

/** The settings of a section by their names. */
export type DeclaredSettings = Record<string, DeclaredSetting>;

/**
 * Reads the settings that a patch may have. For pages, which give them to their forms.
 *
 * @param patch of `server/http/admin/settings-schema.ts`
 */
export function declaredSettings(patch: z.ZodType): DeclaredSettings {
  const { components, convert } = createConverter();
  const { $ref } = convert(patch);
  const schema = components[String($ref).split("/").at(-1) ?? ""] as JsonSchema;
  return schema.properties as DeclaredSettings;
}
