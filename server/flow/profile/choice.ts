import { z } from "zod";

/** Something that an input may name. */
export interface Choice {
  id: string;
  /** What people read of it. */
  name: string;
}

/**
 * The input that names one of what is listed. An empty list is announced too, and admits nothing: `z.enum` has no
 * word for that in JSON Schema.
 */
export function oneOf(choices: readonly Choice[]) {
  const ids = choices.map(({ id }) => id);
  const labels = Object.fromEntries(choices.map(({ id, name }) => [id, name]));
  return z
    .string()
    .refine((id) => ids.includes(id))
    .meta({ hidden: true, labels, enum: ids });
}

/** The input that names something of the account by its id; what it has not is not found. */
export const ownId = () => z.string().max(2048).meta({ hidden: true });
