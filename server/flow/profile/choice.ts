import { z } from "zod";

/** One allowed value of an input. */
export interface Choice {
  id: string;
  /** Display name. */
  name: string;
}

/**
 * Returns the schema of an input that accepts one of the choices. An empty list is announced too, and accepts nothing;
 * `z.enum` cannot express that in JSON Schema.
 */
export function oneOf(choices: readonly Choice[]) {
  const ids = choices.map(({ id }) => id);
  const labels = Object.fromEntries(choices.map(({ id, name }) => [id, name]));
  return z
    .string()
    .refine((id) => ids.includes(id))
    .meta({ hidden: true, labels, enum: ids });
}

/** Returns the schema of an input that names an item of the account by id; the action checks that it exists. */
export const itemId = () => z.string().max(2048).meta({ hidden: true });
