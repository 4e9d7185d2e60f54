import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { failureReasons } from "../server/audit/failure-reasons.ts";
import { attacksPage } from "./attacks.ts";
import { auditFailuresPage } from "./audit-failures.ts";
import { eventsPage } from "./events.ts";
import { methodsPage } from "./methods.ts";
import { tablesPage } from "./tables.ts";
import { tenantSettingsPage } from "./tenant-settings.ts";

const root = join(import.meta.dirname, "..");

/** Every page that people write, with its text. */
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md") && name !== "THIRD-PARTY-NOTICES.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
].map((name): [string, string] => [name, readFileSync(join(root, name), "utf8")]);

describe.each(pages)("%s", (name, text) => {
  test("links only to files that exist", () => {
    const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target));
    expect(targets.filter((target) => !existsSync(join(root, dirname(name), target)))).toEqual([]);
  });

  test("quotes code as it stands in the file", () => {
    const quoted = [...text.matchAll(/^From `([^`]+)`:\n\n```ts\n(.*?)```$/gms)];
    const changed = quoted.filter(
      ([, path = "", code = ""]) => !readFileSync(join(root, path), "utf8").includes(code.trimEnd()),
    );
    expect(changed.map(([, path]) => path)).toEqual([]);
  });

  // The changelog names files as they were.
  if (name === "CHANGELOG.md") return;
  test("names only source files that exist", () => {
    const named = [
      ...text.matchAll(/`((?:app|bench|components|db|docs|e2e|scripts|server|words)\/[\w./[\]-]+)`/g),
    ]
      .map(([, path = ""]) => path)
      .filter((path) => !path.includes("…"));
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  // Decisions name the forms that were not chosen.
  if (dirname(name) === "docs/decisions") return;
  test("gives no command that could download another publisher's package", () => {
    const commands = text.match(/\b(?:npx|npm exec|npm x|pnpm dlx|yarn dlx|bunx) [^`\n]*/g) ?? [];
    const risky = commands.filter((command) => /(?<![\w/.-])stile(?![\w.-])/.test(command));
    expect(risky.filter((command) => !command.startsWith("npx --no-install stile"))).toEqual([]);
  });
});

test("every decision has a number of its own, a status, and a row in one group of the index", () => {
  const folder = join(root, "docs", "decisions");
  const files = readdirSync(folder)
    .filter((name) => name !== "README.md")
    .sort();
  const [, ...groups] = readFileSync(join(folder, "README.md"), "utf8").split(/^## /m);
  expect(files.map((name) => name.slice(0, 4))).toEqual(
    files.map((_, position) => String(position + 1).padStart(4, "0")),
  );
  for (const name of files) {
    const [title = "", , status = ""] = readFileSync(join(folder, name), "utf8").split("\n");
    expect(title).toMatch(new RegExp(`^# ${name.slice(0, 4)}\\. `));
    expect(status).toMatch(/^Status: (accepted|superseded by \d{4}), \d{4}-\d{2}-\d{2}$/);
    const row = `| [${name.slice(0, 4)}](${name}) | ${title.slice("# 0000. ".length)} | ${status.slice("Status: ".length)} |\n`;
    expect({ name, groups: groups.filter((group) => group.includes(row)).length }).toEqual({
      name,
      groups: 1,
    });
  }
  expect(groups.join("").match(/^\| \[\d{4}\]/gm)).toHaveLength(files.length);
});

test("no two rows of attacks in docs/security.md have the same number", () => {
  const text = readFileSync(join(root, "docs", "security.md"), "utf8");
  const cells = [...text.matchAll(/^\| (A\d[^|]*) \|/gm)].map(([, cell]) => cell);
  expect(cells).toContain("A1");
  expect(cells).toEqual([...new Set(cells)]);
});

test("docs/reference/attacks.md lists the tests of each attack; `npm run docs` writes it", () => {
  expect(readFileSync(join(root, "docs", "reference", "attacks.md"), "utf8")).toBe(attacksPage());
});

test("docs/reference/methods.md lists every method; `npm run docs` writes it", () => {
  expect(readFileSync(join(root, "docs", "reference", "methods.md"), "utf8")).toBe(methodsPage());
});

test("docs/reference/audit-failures.md lists every reason; `npm run docs` writes it", () => {
  const page = readFileSync(join(root, "docs", "reference", "audit-failures.md"), "utf8");
  expect(page).toBe(auditFailuresPage());
});

test("docs/support.md explains every reason of mails that are not sent, new authenticator apps and API keys", () => {
  const text = readFileSync(join(root, "docs", "support.md"), "utf8");
  const { mail_withheld, mail_failed, otp_creation_failed, api_key_rejected } = failureReasons;
  const named = [mail_withheld, mail_failed, otp_creation_failed, api_key_rejected].flatMap(Object.keys);
  expect(
    named.filter((reason) => !text.includes(`\`${reason}\``) && !text.includes(`reason=${reason}`)),
  ).toEqual([]);
});

test("docs/reference/events.md lists every event; `npm run docs` writes it", () => {
  expect(readFileSync(join(root, "docs", "reference", "events.md"), "utf8")).toBe(eventsPage());
});

test("docs/reference/tables.md lists every table; `npm run docs` writes it", () => {
  expect(readFileSync(join(root, "docs", "reference", "tables.md"), "utf8")).toBe(tablesPage());
});

test("docs/reference/tenant-settings.md lists every setting of tenants; `npm run docs` writes it", () => {
  const page = readFileSync(join(root, "docs", "reference", "tenant-settings.md"), "utf8");
  expect(page).toBe(tenantSettingsPage());
});
