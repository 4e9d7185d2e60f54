import { describe, expect, test } from "vitest";
import { executeTemplate, parseTemplate, TemplateError, TemplateStruct } from "./go-template.ts";
import { StepBudget } from "./step-budget.ts";

const data = new TemplateStruct(
  {
    User: new TemplateStruct(
      {
        Name: "Ada",
        Empty: "",
        Nothing: null,
        Age: 36,
        Email: new TemplateStruct({ Address: "ada@example.com", IsVerified: true }, { address: "x" }),
        Find: ([path]) => ({ a: "found", list: ["x", 1] })[String(path)] ?? "",
      },
      { name: "Ada" },
    ),
  },
  {},
);

const budget = ({ steps = 1_000, bytes = 1_000 } = {}) => ({
  steps: new StepBudget(steps),
  bytes: new StepBudget(bytes),
});

const run = (template: string, limits = budget()) => executeTemplate(parseTemplate(template), data, limits);

test.each([
  ["text", "text"],
  ["", ""],
  ["Hello {{.User.Name}}!", "Hello Ada!"],
  ["{{ .User.Age }}", "36"],
  ["a  {{- .User.Name -}}  b", "aAdab"],
  ["a {{- /* a comment }} */ -}} b", "ab"],
  ["a{{/* nothing */}}b", "ab"],
  ["{{if .User.Email.IsVerified}}yes{{else}}no{{end}}", "yes"],
  ["{{if .User.Empty}}yes{{else}}no{{end}}", "no"],
  ["{{if .User.Nothing}}yes{{end}}", ""],
  ["{{if .User.Empty}}1{{else if .User.Name}}2{{else}}3{{end}}", "2"],
  ["{{if .User.Empty}}1{{else if .User.Nothing}}2{{else}}3{{end}}", "3"],
  ["{{if .User.Name}}{{if .User.Empty}}1{{else}}2{{end}}{{end}}!", "2!"],
  ["{{if and .User.Name (not .User.Empty)}}both{{end}}", "both"],
  ["{{if or .User.Empty .User.Name}}one{{end}}", "one"],
  ['{{if eq .User.Name "Eve" "Ada"}}known{{end}}', "known"],
  ['{{if ne .User.Name "Eve"}}other{{end}}', "other"],
  ['{{ .User.Find "a" }}', "found"],
  ["{{ .User.Find `a` }}", "found"],
  ['{{ "a" | .User.Find | printf "<%s>" }}', "<found>"],
  ['{{ .User.Find "list" }}', '["x",1]'],
  ['{{ print "}}" }}', "}}"],
  ['{{ printf "%s is %d, 100%%" .User.Name .User.Age }}', "Ada is 36, 100%"],
  ["{{ len .User.Name }}", "3"],
  ["{{ .User }}", '{"name":"Ada"}'],
  ["{ {.User.Name} }}", "{ {.User.Name} }}"],
])("%s prints %j", (template, text) => {
  expect(run(template).text).toBe(text);
});

test("one action alone has the type of its value", () => {
  expect(run("{{.User.Email.IsVerified}}").value).toBe(true);
  expect(run("{{.User.Age}}").value).toBe(36);
  expect(run("{{.User.Email}}").value).toEqual({ address: "x" });
  expect(run(" {{.User.Age}}")).toEqual({ text: " 36", hasValues: true });
});

test("reports whether a text has values in it", () => {
  expect(run("{{if .User.Name}}true{{end}}").hasValues).toBe(false);
  expect(run("{{if .User.Name}}{{.User.Name}}{{end}}").hasValues).toBe(true);
});

describe("rejects", () => {
  test.each([
    ["an unclosed action", "{{ .User.Name"],
    ["an action with one brace", "{{ .User.Name }"],
    ["an empty action", "{{ }}"],
    ["an unknown function", "{{ system .User.Name }}"],
    ["an unclosed string", '{{ .User.Find "a }}'],
    ["an unclosed group", "{{ not (.User.Name }}"],
    ["a closed group that was not opened", "{{ .User.Name ) }}"],
    ["a pipe into nothing", "{{ .User.Name | }}"],
    ["if without end", "{{if .User.Name}}x"],
    ["end without if", "x{{end}}"],
    ["else without if", "x{{else}}"],
    ["two elses", "{{if .User.Name}}1{{else}}2{{else}}3{{end}}"],
    ["words after else", "{{if .User.Name}}1{{else .User.Name}}2{{end}}"],
    ["range", "{{range .User.Name}}x{{end}}"],
    ["a variable", "{{ $x := .User.Name }}"],
    ["groups without end", `{{ ${"(".repeat(20_000)}`],
    ["17 nested groups", `{{ not ${"(not ".repeat(17)} 1 ${")".repeat(17)} }}`],
    ["17 nested ifs", `${"{{if 1}}".repeat(17)}x${"{{end}}".repeat(17)}`],
  ])("%s when it is parsed", (_, template) => {
    expect(() => parseTemplate(template)).toThrow(TemplateError);
  });

  test.each([
    ["an unknown field", "{{ .User.Surname }}"],
    ["a field of a text", "{{ .User.Name.First }}"],
    ["a field of nothing", "{{ .User.Nothing.Address }}"],
    ["a property of every object", "{{ .User.constructor }}"],
    ["a prototype", "{{ .__proto__ }}"],
    ["nothing", "{{ .User.Nothing }}"],
    ["nothing inside a text", "Hello {{ .User.Nothing }}"],
    ["arguments of a field", '{{ .User.Name "a" }}'],
    ["arguments of a constant", '{{ "a" .User.Name }}'],
    ["a verb without a value", '{{ printf "%s" }}'],
    ["a value without a verb", '{{ printf "x" .User.Name }}'],
    ["an unknown verb", '{{ printf "%x" .User.Name }}'],
    ["the length of a number", "{{ len .User.Age }}"],
  ])("%s when it is executed", (_, template) => {
    const parsed = parseTemplate(template);
    expect(() => executeTemplate(parsed, data, budget())).toThrow(TemplateError);
  });
});

describe("A140 an execution stops", () => {
  test.each([
    ["at a node", "{{.}}x".repeat(5_000)],
    ["at a value that is printed", "{{.User}}".repeat(5_000)],
    ["in a group whose value is not written", `{{if eq ${"(print .User) ".repeat(5_000)}}}x{{end}}`],
    ["in a printf", `{{if printf "${"%v".repeat(500)}" ${".User ".repeat(500)}}}x{{end}}`],
    ["at an operand", `{{if and ${".User.Name ".repeat(5_000)}}}x{{end}}`],
  ])("%s, at most one value beyond its bound of steps", (_, template) => {
    const limits = budget({ steps: 100, bytes: 1_000_000 });
    expect(() => run(template, limits)).toThrow("it takes more than 100 steps");
    expect(limits.steps.spent).toBeLessThan(100 + 1_001);
  });

  test.each(["x".repeat(101), "{{.User.Name}}".repeat(34), "{{if 1}}{{.User.Name}}{{end}}".repeat(34)])(
    "at its bound of output: %.40s",
    (template) => {
      const limits = budget({ bytes: 100 });
      expect(() => run(template, limits)).toThrow("its value is too long");
      expect(limits.bytes.spent).toBeLessThanOrEqual(102);
    },
  );

  test("16 nested levels are parsed and executed", () => {
    expect(run(`${"{{if 1}}".repeat(16)}x${"{{end}}".repeat(16)}`).text).toBe("x");
  });
});
