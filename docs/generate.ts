import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../server/config/load.ts";
import { diagram } from "../server/flow/graph.ts";
import { reference } from "../server/flow/reference.ts";

/** Writes the generated reference into `docs/reference`, and the diagram into the README. */

const here = import.meta.dirname;
const config = loadConfig({}, here);

for (const [name, page] of Object.entries(reference(config)))
  writeFileSync(join(here, "reference", name), page);

const readme = join(here, "..", "README.md");
const marked = /(<!-- diagram -->\n)[\s\S]*?(<!-- \/diagram -->)/;
const drawn = readFileSync(readme, "utf8").replace(
  marked,
  `$1\`\`\`mermaid\n${diagram("login")}\n\`\`\`\n$2`,
);
writeFileSync(readme, drawn);
