import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Plugin } from "esbuild";

/** What the bundles of the pages and of the packages have in common. */

const root = dirname(import.meta.dirname);
const modules = join(root, "node_modules");

/** Parts that few states draw: file of `components` → the component in it. They are loaded when they are drawn. */
const lazyParts: Record<string, string> = {
  "flow/account-view.tsx": "AccountView",
  "flow/recovery-codes.tsx": "RecoveryCodes",
  "flow/sign-out.tsx": "SignOut",
  "flow/user.tsx": "User",
  "ui/provider-mark.tsx": "ProviderMark",
};

/** Replaces each of `lazyParts` by a component that loads it. */
export const lazily: Plugin = {
  name: "lazily",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.tsx$/ }, ({ path, resolveDir, namespace }) => {
      if (namespace !== "file" || !path.startsWith(".")) return null;
      const file = relative(join(root, "components"), resolve(resolveDir, path)).split(sep).join("/");
      return Object.hasOwn(lazyParts, file) ? { path: file, namespace: "lazily" } : null;
    });
    onResolve({ filter: /^lazy-part$/ }, ({ path }) => ({ path, namespace: "lazily" }));
    onLoad({ filter: /^lazy-part$/, namespace: "lazily" }, () => ({
      resolveDir: root,
      contents: `
        import { createElement, lazy, Suspense } from "react";
        export function lazyPart(load) {
          const Part = lazy(load);
          return (properties) => createElement(Suspense, null, createElement(Part, properties));
        }`,
    }));
    onLoad({ filter: /\.tsx$/, namespace: "lazily" }, ({ path }) => ({
      resolveDir: root,
      contents: `
        import { lazyPart } from "lazy-part";
        const load = async () => ({ default: (await import("./components/${path}")).${lazyParts[path]} });
        export const ${lazyParts[path]} = /* @__PURE__ */ lazyPart(load);`,
    }));
  },
};

/**
 * Imports each function of `@simplewebauthn/browser` from its own file: imported through the index of the package, all of
 * them are loaded with the first.
 */
export const byFunction: Plugin = {
  name: "by function",
  setup({ onLoad }) {
    const folder = join(modules, "@simplewebauthn", "browser", "esm");
    const fileOf = (name: string) =>
      ["methods", "helpers"]
        .map((part) => join(folder, part, `${name.charAt(0).toLowerCase()}${name.slice(1)}.js`))
        .find((file) => existsSync(file));
    // `ceremonyErrorOf` reads the browser's own error; the explanations for developers are not loaded.
    onLoad({ filter: /[\\/]identifyAuthenticationError\.js$/ }, () => ({
      contents: "export const identifyAuthenticationError = ({ error }) => error;",
    }));
    onLoad({ filter: /[\\/]components[\\/]flow[\\/][\w-]+\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replace(
        /^import \{([^}]*)\} from "@simplewebauthn\/browser";$/m,
        (_, names: string) =>
          names
            .split(",")
            .map((name) => name.trim())
            .filter((name) => name !== "")
            .map(
              (name) =>
                `import { ${name} } from ${JSON.stringify(fileOf(name) ?? "@simplewebauthn/browser")};`,
            )
            .join("\n"),
      ),
    }));
  },
};
