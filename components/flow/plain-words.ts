import type { FlowWords } from "#words/flow";
import { readable } from "./words.ts";

/** Texts made of their names: `showPassword` is "Show password". */
const named = (value: (name: string) => unknown) =>
  new Proxy(
    {},
    {
      get: (_, name) =>
        value(
          readable(
            String(name)
              .replace(/([A-Z])/g, "_$1")
              .toLowerCase(),
          ),
        ),
    },
  );

/**
 * Words without a language: titles, labels and errors fall back to the descriptions of the service. Drawn where the words
 * of no language can be loaded.
 */
export const plainWords = {
  states: {},
  actions: {},
  afterProof: {},
  inputs: {},
  errors: {},
  sections: named((title) => ({ title })),
  links: named((label) => label),
  consent: named(() => "{link}"),
  page: named((text) => text),
} as unknown as FlowWords;
