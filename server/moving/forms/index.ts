import type { Form, SourceRecord } from "../form.ts";
import { auth0 } from "./auth0.ts";
import { clerk } from "./clerk.ts";
import { firebase } from "./firebase.ts";
import { hanko } from "./hanko.ts";
import { stile } from "./stile.ts";
import { supabase } from "./supabase.ts";

/** Every form that users are imported from, by its name. The first one that recognizes a record has it. */
export const forms = { firebase, clerk, supabase, auth0, hanko, stile } satisfies Record<string, Form>;

export type FormName = keyof typeof forms;

export const formNames = Object.keys(forms) as FormName[];

/** Recognizes the form of a record; null if it has none. */
export function recognizeForm(record: SourceRecord): FormName | null {
  return formNames.find((name) => forms[name].recognizes(record)) ?? null;
}
