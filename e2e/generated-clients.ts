import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../server/testing/server.ts";
import { runStile } from "../server/testing/stile.ts";

/**
 * Generates clients of the interface from the document of a running server, compiles them, and signs a user in with each:
 * `npm run test:clients`. It needs Maven with Java, Python 3 with `venv`, and Go. What the generators need of the document
 * is tested without them in `server/http/openapi/generators.test.ts`.
 */

const GENERATOR = "org.openapitools:openapi-generator-cli:7.14.0";

const programs = join(import.meta.dirname, "generated-clients");
const folder = mkdtempSync(join(tmpdir(), "stile-clients-"));
const python = join(folder, "python");
const go = join(folder, "go");

/** Runs a program of which only failures are shown. */
function run(program: string, parameters: readonly string[], cwd = folder): string {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${parameters[0]} failed: ${error?.message ?? (stdout + stderr).slice(-2000)}`);
}

function generator(): string {
  run("mvn", ["-q", "dependency:copy", `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${folder}`]);
  const [, name, version] = GENERATOR.split(":");
  return join(folder, `${name}-${version}.jar`);
}

function generate(jar: string, language: string, output: string, ...options: string[]): void {
  run("java", [
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
    "-jar",
    jar,
    "generate",
    "-g",
    language,
    "-i",
    "openapi.json",
    "-o",
    output,
    ...options,
  ]);
}

/** @returns the program that signs in, with its first parameters */
function pythonProgram(jar: string): [string, ...string[]] {
  generate(jar, "python", python, "--package-name=stile_client");
  run("python3", ["-m", "venv", "environment"], python);
  const installed = join(python, "environment", "bin", "python");
  run(installed, ["-m", "pip", "install", "--quiet", "."], python);
  // Each module is compiled when it is imported, and the package imports few of them.
  run(installed, ["-m", "compileall", "-q", "stile_client"], python);
  return [installed, join(programs, "sign_in.py")];
}

/** @returns the same */
function goProgram(jar: string): [string, ...string[]] {
  const module = ["--git-host=client.test", "--git-user-id=stile", "--git-repo-id=generated"];
  generate(jar, "go", join(go, "client"), "--package-name=client", ...module);
  // Its tests are examples that call nothing, and need a library of their own.
  rmSync(join(go, "client", "test"), { recursive: true, force: true });
  mkdirSync(join(go, "program"));
  copyFileSync(join(programs, "sign_in.go"), join(go, "program", "main.go"));
  writeFileSync(
    join(go, "program", "go.mod"),
    "module program\n\ngo 1.18\n\nrequire client.test/stile/generated v0.0.0\n\nreplace client.test/stile/generated => ../client\n",
  );
  run("go", ["mod", "tidy"], join(go, "program"));
  run("go", ["vet", "./..."], join(go, "client"));
  run("go", ["build", "-o", "../sign-in", "."], join(go, "program"));
  return [join(go, "sign-in")];
}

const server = await startServer();
try {
  const made = await runStile(["keys", "create", "--interface", "admin", "--name", "generated clients"], {
    cwd: folder,
    env: server.environment,
  });
  const key = /stile_\S+/.exec(made.out)?.[0];
  if (!key) throw new Error(`no key was made: ${made.err}`);
  const document = await fetch(`${server.url}/openapi.json`);
  writeFileSync(join(folder, "openapi.json"), await document.text());
  const jar = generator();
  for (const make of [pythonProgram, goProgram]) {
    const [program, ...parameters] = make(jar);
    execFileSync(program, [...parameters, server.url, key], { stdio: "inherit" });
  }
} finally {
  await server.stop();
  if (existsSync(folder)) rmSync(folder, { recursive: true });
}
