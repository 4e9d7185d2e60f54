import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { languageTags } from "#words/language-tags";
import { withAccount } from "#words/with-account";
import { type BuiltPackage, buildElement, buildReact } from "../scripts/build-packages.ts";

/** Bytes after compression with gzip. What is not needed for a login is loaded with the state that needs it. */
const budgets = {
  /** Modules that a login loads, without React and without the words of one language. */
  react: 23_500,
  styles: 6_000,
  words: 6_000,
  /** Everything that a login in English loads. */
  element: 42_000,
};

const root = join(import.meta.dirname, "..");
let folder: string;
let react: BuiltPackage;
let element: BuiltPackage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "stile-packages-"));
  react = await buildReact(join(folder, "react"));
  element = await buildElement(join(folder, "element"));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The files that an entry point imports at once, itself included. */
function loadedWith({ metafile }: BuiltPackage, entry: string): string[] {
  const outputs = Object.entries(metafile.outputs);
  const loaded = new Set<string>();
  const pending = outputs.filter(([path]) => basename(path) === entry).map(([path]) => path);
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    loaded.add(path);
    const imports = metafile.outputs[path]?.imports ?? [];
    pending.push(
      ...imports
        .filter(({ kind, external }) => kind === "import-statement" && !external)
        .map(({ path }) => path),
    );
  }
  return [...loaded].map((path) => basename(path));
}

/** The file with the words of a language: those of a login, or those that the account page has beside them. */
function wordsOf({ metafile }: BuiltPackage, language: string, part = "flow"): string {
  const found = Object.entries(metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint === `words/${language}/${part}.ts`,
  );
  if (!found) throw new Error(`there are no words in ${language}`);
  return basename(found[0]);
}

const weight = ({ folder }: BuiltPackage, files: string[]) =>
  files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length, 0);

const sources = ({ metafile }: BuiltPackage) => Object.keys(metafile.inputs);

describe("the weight of a login", () => {
  test("with the React package is within its budget", () => {
    expect(weight(react, loadedWith(react, "index.js"))).toBeLessThanOrEqual(budgets.react);
    expect(weight(react, ["stile.css"])).toBeLessThanOrEqual(budgets.styles);
    for (const language of languageTags)
      expect(weight(react, [wordsOf(react, language)])).toBeLessThanOrEqual(budgets.words);
  });

  test("with the element is within its budget", () => {
    const files = [...loadedWith(element, "stile-element.js"), wordsOf(element, "en")];
    expect(weight(element, files)).toBeLessThanOrEqual(budgets.element);
  });

  test("is in two files, and that of the words", () => {
    expect(loadedWith(react, "index.js")).toHaveLength(2);
    expect(loadedWith(element, "stile-element.js")).toHaveLength(2);
  });

  test.each([
    ["account-view", /account-(view|sections|items|additions)|sign-out/],
    ["recovery-codes", /recovery-codes/],
    ["authenticator-request", /authenticator-request/],
    ["passkey-creation", /passkey-(creation|assertion)/],
    ["immediate-sign-in", /immediate-sign-in/],
    ["the frame", /frame\/embed|framed-login/],
    ["words", /words\/[\w-]+\/(flow|account)/],
  ])("does not contain %s", (_, part) => {
    for (const built of [react, element]) {
      const entry = built === react ? "index.js" : "stile-element.js";
      const loaded = new Set(loadedWith(built, entry));
      const inputs = Object.entries(built.metafile.outputs)
        .filter(([path]) => loaded.has(basename(path)))
        .flatMap(([, { inputs }]) => Object.keys(inputs).filter((path) => !path.startsWith("lazily:")));
      expect(inputs.length).toBeGreaterThan(30);
      expect(inputs.filter((path) => part.test(path))).toEqual([]);
    }
  });
});

test.each(languageTags)(
  "the words of a login and those of the account are all words in %s",
  async (language) => {
    const load = (part: string) => import(join(react.folder, wordsOf(react, language, part)));
    const [{ flow }, { account }] = await Promise.all([load("flow"), load("account")]);
    expect(flow.sections).toEqual({});
    const { flow: all } = await import(`#words/${language}/flow`);
    const { messages } = await import(`#words/${language}/messages`);
    expect({ ...withAccount(flow, account).page, ...messages }).toEqual(all.page);
    expect({ ...withAccount(flow, account), page: all.page }).toEqual(all);
  },
);

test("neither package contains tRPC, and the React package contains no React", () => {
  expect([...sources(react), ...sources(element)].filter((path) => path.includes("@trpc"))).toEqual([]);
  expect(sources(react).filter((path) => /node_modules\/(react|react-dom|preact)\//.test(path))).toEqual([]);
});

test("each package names the works that it contains, with their licences", () => {
  const notices = (built: BuiltPackage) => readFileSync(join(built.folder, "NOTICES.txt"), "utf8");
  expect(notices(react)).toMatch(/^@simplewebauthn\/browser \S+ \(MIT\)$/m);
  expect(notices(element)).toMatch(/^preact \S+ \(MIT\)$/m);
});

test("the declarations of the React package refer to files of the package and to React alone", () => {
  const types = join(react.folder, "types");
  const files = readdirSync(types, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const specifiers = files.flatMap((path) =>
    [...readFileSync(join(types, path), "utf8").matchAll(/(?:from |import\()"([^"]+)"/g)].map(
      ([, name]) => name,
    ),
  );
  expect(specifiers.length).toBeGreaterThan(3);
  expect(specifiers.filter((name) => !name?.startsWith("."))).toEqual(["react", "react", "react"]);

  const use = join(react.folder, "use.tsx");
  writeFileSync(
    use,
    `import { Account, type FlowResult, Login, useFlow, useSignIn } from "./types/packages/react/src/index.js";
    const keep = (result: FlowResult) => (result.kind === "code" ? result.codeVerifier : result.kind);
    export const page = <><Login url="https://login.example" onSuccess={keep} /><Account url="https://login.example" /></>;
    export const name = () => useFlow({ url: "https://login.example", flow: "registration" }).state?.name;
    export const button = () => useSignIn({ url: "https://login.example", onSuccess: keep }).login;
    // @ts-expect-error an account is not a login
    export const wrong = <Login url="https://login.example" flow="profile" />;\n`,
  );
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = ["--noEmit", "--strict", "--jsx", "react-jsx", "--module", "nodenext", "--ignoreConfig"];
  const roots = ["--typeRoots", join(root, "node_modules", "@types"), "--types", "react"];
  const paths = join(folder, "node_modules");
  execFileSync("ln", ["-s", join(root, "node_modules"), paths]);
  execFileSync(process.execPath, [tsc, ...options, ...roots, use], { encoding: "utf8", stdio: "pipe" });
});
