import { readFileSync } from "node:fs";
import type { KnipConfig } from "knip";

/**
 * `npm run check`: Knip reports files, exports and dependencies that nothing reaches from the entries below, and
 * dependencies that package.json does not list. It knows the entries of Next, Vitest and Playwright by itself, and it
 * reports a line of this file that has no effect.
 */

const { scripts } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  scripts: Record<string, string>;
};

/** The programs of `npm run`, by which `scripts/run.js` is called. */
const programs = Object.values(scripts).flatMap((line) =>
  [...line.matchAll(/scripts\/run\.js (?!node_modules)(\S+)/g)].map(([, program = ""]) => program),
);

export default {
  treatConfigHintsAsErrors: true,
  workspaces: {
    ".": {
      entry: [
        ...programs,
        // Compiled or bundled, then run or published: `scripts/build.ts`, `build-pages.ts`, `build-packages.ts`.
        "server/{main,cli/stile}.ts",
        "server/passkey-server/receipt-verification.ts",
        "server/testing/kit/{index,host}.ts",
        "hosted/drawing/{draw,draw-gallery}.tsx",
        "hosted/drawing/browser/*.ts",
        "packages/{react,element,server}/src/{index,stile-element,stile,trpc}.{ts,tsx}",
        "e2e/stage/stage.tsx",
        // Read by VitePress, and the theme by the browser.
        "docs/.vitepress/{config,theme/index}.ts",
        // Run by the Dockerfile.
        "scripts/image-files.ts",
        // Run by hand, as the head of each says.
        "scripts/common-passwords.ts",
        "bench/{distributed,grown,keycloak,kill-drill,observed,openid,signatures,sizes,under-load,under-next,upgrade,users}.ts",
        // Started by their paths.
        "bench/bare/server.ts",
        "bench/openid/bare.ts",
        "bench/bare-next/**/*.{js,mjs}",
        "server/testing/{embedded-holder,jobs-process,migration-on-full-disk,scripted-worker}.ts",
        "e2e/firefox.js",
        "examples/commands/npm.mjs",
        // Applications: they stand alone, and no module of this repository imports them.
        "examples/**/*.{js,jsx}",
        "examples/trpc/src/main.ts",
        // Type tests, which only the compiler reads.
        "**/*.types.ts",
      ],
      project: ["**/*.{ts,tsx,js,jsx,mjs,vue}"],
      // Its configuration is not where Knip looks for it.
      vitepress: false,
      ignoreDependencies: [
        // This repository builds them.
        /^@stile-auth\//,
        // Aliases of bundles: of the element (`scripts/build-packages.ts`), and of pages in `e2e/embedded.spec.ts`.
        "preact",
        /^react(-dom)?-18$/,
      ],
      // Programs of the system.
      ignoreBinaries: [
        "apt-get",
        "createdb",
        "faketime",
        "go",
        "ldd",
        "mount",
        "prometheus",
        "promtool",
        "taskset",
        "umount",
        "unshare",
      ],
    },
    // Started by their paths.
    "bench/peer": { entry: ["{openid,server}.js"] },
  },
  // The types of a function's parameters and of its result are exported with it.
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
