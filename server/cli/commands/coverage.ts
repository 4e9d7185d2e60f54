import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { FlowCoverage } from "../../flow/coverage.ts";
import { flowTypes } from "../../flow/names.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { cannotBe } from "../files.ts";
import { nameOf } from "../options.ts";

const fileContent = z.object({ edges: z.array(z.string()), errors: z.array(z.string()) });

export const coverage = command({
  name: "coverage",
  summary: "Measure how much of the state graph your tests took.",
  details:
    "Reads what servers of @stile-auth/testing wrote (STILE_COVERAGE=<folder>). The number is the share of the\ndeclared transitions and errors. Exits with 1 below --min.",
  takes: ["folder"],
  options: {
    flow: { value: "type", multiple: true, description: `Only this flow: ${flowTypes.join(", ")}.` },
    min: { value: "percent", description: "Fail below this share." },
    mermaid: { value: "file", description: "Draw the flows as Mermaid flowcharts, in a Markdown file." },
    untaken: { description: "List what was not taken." },
    json: { description: "The result as JSON." },
  },
  async run(cli, { flow, min, mermaid, untaken, json }, [folder = ""]) {
    const flows = flow.length > 0 ? flow.map((name) => nameOf(name, flowTypes, "a flow")) : flowTypes;
    const least = min === undefined ? 0 : percentOf(min);
    const { drawCoverage, measureCoverage } = await import("../../flow/coverage.ts");
    const taken = await readCoverage(folder);
    const report = measureCoverage(taken, flows);
    if (mermaid !== undefined) {
      const drawings = flows.map(
        (type) => `## ${type}\n\n\`\`\`mermaid\n${drawCoverage(taken, type)}\n\`\`\`\n`,
      );
      await writeFile(mermaid, drawings.join("\n")).catch(cannotBe("written", mermaid));
    }
    if (json) await cli.print(JSON.stringify(report));
    else {
      const { edges, errors } = report;
      await cli.print(
        `${report.percent} % (${edges.taken} of ${edges.declared} transitions, ${errors.taken} of ${errors.declared} errors)`,
      );
      if (untaken) for (const one of report.untaken) await cli.print(one);
    }
    if (report.percent < least)
      throw new CommandError(`the coverage is ${report.percent} %, below ${least} %`);
  },
});

/** Adds up the files of a folder; each is of one server. */
async function readCoverage(folder: string): Promise<FlowCoverage> {
  const taken: FlowCoverage = { edges: new Set(), errors: new Set() };
  for (const name of await filesOf(folder)) {
    const { edges, errors } = await contentOf(join(folder, name));
    for (const edge of edges) taken.edges.add(edge);
    for (const error of errors) taken.errors.add(error);
  }
  return taken;
}

async function filesOf(folder: string): Promise<string[]> {
  const all = await readdir(folder).catch(cannotBe("read", folder));
  const names = all.filter((name) => name.endsWith(".json"));
  if (names.length === 0)
    throw new CommandError(`${folder} holds no coverage: no server for tests wrote there`);
  return names;
}

async function contentOf(file: string) {
  try {
    return fileContent.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    throw new CommandError(`${file} is not a coverage of @stile-auth/testing`);
  }
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (!/^\d{1,3}$/.test(text) || percent > 100) throw new UsageError("--min takes a number from 0 to 100");
  return percent;
}
