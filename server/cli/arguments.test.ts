import { describe, expect, test } from "vitest";
import { helpText, parseCall } from "./arguments.ts";
import { UsageError } from "./command.ts";
import { commands } from "./commands/index.ts";

const call = (line: string) => parseCall(line.split(" ").filter(Boolean), commands);

describe("parseCall", () => {
  test("parses a command with its options in any order", () => {
    expect(call("tenants create --host b.example --name Acme --host c.example")).toMatchObject({
      kind: "run",
      command: { name: "tenants create" },
      values: { name: "Acme", host: ["b.example", "c.example"], json: false },
      positionals: [],
    });
    expect(call("tenants delete --with-users 1234")).toMatchObject({
      values: { "with-users": true },
      positionals: ["1234"],
    });
    expect(call("flow graph")).toMatchObject({ values: { json: false }, positionals: [] });
  });

  test.each([
    ["tenant list", "tenant is not a command; the nearest is tenants list"],
    ["tenants", "expected one of: tenants list, tenants create, tenants update, tenants delete"],
    ["tenants make", "expected one of: tenants list, tenants create, tenants update, tenants delete"],
    ["tenants create", "--name is missing (stile tenants create --help)"],
    ["tenants delete", "<id> is missing (stile tenants delete --help)"],
    ["tenants delete a b", "unexpected argument: b (stile tenants delete --help)"],
    ["tenants list --all", "Unknown option '--all' (stile tenants list --help)"],
    [
      "tenants create --nmae x",
      "Unknown option '--nmae'; the nearest is --name (stile tenants create --help)",
    ],
    ["brew tea", "brew is not a command; stile --help lists them"],
    [
      "keys create --interface",
      /^Option '--interface <value>' argument missing \(stile keys create --help\)$/,
    ],
    ["tenants list --json=yes", /does not take an argument \(stile tenants list --help\)$/],
  ])("rejects `%s`", (line, message) => {
    expect(() => call(line)).toThrow(UsageError);
    expect(() => call(line)).toThrow(message);
  });

  test.each(["", "--help", "-h", "help"])("lists every command for `%s`", (line) => {
    const parsed = call(line);
    if (parsed.kind !== "help") throw new Error("no help");
    const text = helpText(parsed, commands);
    for (const { name } of commands) expect(text).toContain(`  ${name}  `);
  });

  test("lists the commands of a group", () => {
    const parsed = call("keys --help");
    if (parsed.kind !== "help") throw new Error("no help");
    expect(helpText(parsed, commands).match(/^ {2}\w+ \w+/gm)).toEqual([
      "  keys list",
      "  keys create",
      "  keys delete",
    ]);
  });

  test("marks required options", () => {
    const parsed = call("tenants create --help");
    if (parsed.kind !== "help") throw new Error("no help");
    const text = helpText(parsed, commands);
    expect(text).toMatch(/^Usage: stile tenants create --name <text> \[options\]\n/);
    expect(text).toMatch(/^ {2}--name <text> +Required\. /m);
    expect(text).not.toMatch(/--host.*Required/);
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    "the help text of %s lists its options in lines of at most 120 characters",
    (name, command) => {
      const parsed = call(`${name} --help --nonsense`);
      if (parsed.kind !== "help") throw new Error("no help");
      const text = helpText(parsed, commands);
      expect(text).toMatch(new RegExp(`^Usage: stile ${name}`));
      for (const option of Object.keys(command.options)) expect(text).toContain(`--${option}`);
      expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    },
  );
});
