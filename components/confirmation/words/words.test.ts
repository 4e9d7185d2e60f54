import { expect, test } from "vitest";
import { languages } from "../../flow/words/languages.ts";
import { confirmationWords } from "./languages.ts";

/** Every text by where it stands, with the names of its gaps. */
function shape(node: unknown, path = ""): [string, string[]][] {
  if (typeof node === "string") return [[path, [...node.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort()]];
  return Object.entries(node as object).flatMap(([name, child]) => shape(child, `${path}/${name}`));
}

test.each(languages.map(({ language }) => language))(
  "%s says as much as English does, in words of its own, with the same gaps",
  (language) => {
    const words = confirmationWords(language);
    expect(shape(words)).toEqual(shape(confirmationWords("en")));
    expect(words === confirmationWords("en")).toBe(language === "en");
  },
);
