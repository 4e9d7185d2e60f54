import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { secretSettings } from "../deploy/secret-settings.ts";
import { clientInterface } from "../scripts/client-interface.ts";
import { loadConfig } from "../server/config/load.ts";
import { floors } from "../server/floors.ts";
import { reference } from "../server/flow/reference.ts";
import { attacksPage } from "./attacks.ts";
import { auditFailuresPage } from "./audit-failures.ts";
import { eventsPage } from "./events.ts";
import { galleryDeclarations } from "./gallery.ts";
import { methodsPage } from "./methods.ts";
import { metricsPage } from "./metrics.ts";
import { roomsDiagram } from "./rooms.ts";
import { tablesPage } from "./tables.ts";
import { tenantSettingsPage } from "./tenant-settings.ts";
import { withThemeColors } from "./theme-sheet.ts";

/**
 * Writes the generated reference into `docs/reference`, the diagram of `docs/architecture.md`, the
 * examples of the interface into `server/http/openapi/examples.json`, the types of the client into
 * `packages/server/src/interface.ts`, what the gallery draws into `components/gallery/declared.json`, the colours of the
 * theme into `components/ui/theme.css`, and the names of secrets into the Helm chart.
 */

const here = import.meta.dirname;
const config = loadConfig({}, here);

for (const [name, page] of Object.entries(reference(config)))
  writeFileSync(join(here, "reference", name), page);

writeFileSync(join(here, "reference", "attacks.md"), attacksPage());
writeFileSync(join(here, "reference", "audit-failures.md"), auditFailuresPage());
writeFileSync(join(here, "reference", "events.md"), eventsPage());
writeFileSync(join(here, "reference", "methods.md"), methodsPage());
writeFileSync(join(here, "reference", "metrics.md"), metricsPage());
writeFileSync(join(here, "reference", "tables.md"), tablesPage());
writeFileSync(join(here, "reference", "tenant-settings.md"), tenantSettingsPage());
draw(join(here, "architecture.md"), "rooms", roomsDiagram(floors));

writeFileSync(join(here, "..", "packages", "server", "src", "interface.ts"), clientInterface());

writeFileSync(join(here, "..", "components", "gallery", "declared.json"), galleryDeclarations());

writeFileSync(join(here, "..", "deploy", "helm", "stile", "secret-settings.txt"), secretSettings());

const sheet = join(here, "..", "components", "ui", "theme.css");
writeFileSync(sheet, withThemeColors(readFileSync(sheet, "utf8")));

// The calls of this test are the examples of `/openapi.json`.
execFileSync(
  process.execPath,
  [join(here, "../node_modules/vitest/vitest.mjs"), "run", "server/http/openapi/every-operation", "--update"],
  { cwd: join(here, ".."), stdio: "inherit" },
);

/** Replaces the Mermaid diagram between the marks `<!-- name -->` and `<!-- /name -->` of a page. */
function draw(file: string, name: string, mermaid: string): void {
  const page = readFileSync(file, "utf8");
  const marked = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
  writeFileSync(file, page.replace(marked, `$1\`\`\`mermaid\n${mermaid}\n\`\`\`\n$2`));
}
