import type { StepBudget } from "./step-budget.ts";

/**
 * A subset of Go's template language (https://pkg.go.dev/text/template): text, fields, methods, pipelines, `if` with
 * `else` and `else if`, comments, trimming, and the functions of `functions`. A template is parsed once, and its
 * execution stops at a bound of steps and of output.
 */

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A method of a struct, with arguments from the template. It takes its steps from the budget, by `spend`. */
export type TemplateMethod = (given: readonly TemplateValue[], steps: StepBudget) => TemplateValue;

export type TemplateValue = Json | TemplateStruct | TemplateMethod;

/** A value with named fields and methods. */
export class TemplateStruct {
  readonly fields: ReadonlyMap<string, TemplateValue>;
  /** Its form when it is printed. */
  readonly json: Json;

  constructor(fields: Record<string, TemplateValue>, json: Json) {
    this.fields = new Map(Object.entries(fields));
    this.json = json;
  }
}

/** A template that cannot be parsed, or cannot be executed with the given data. */
export class TemplateError extends Error {
  override name = "TemplateError";
}

/** Bounds of an execution. */
export interface TemplateBudget {
  /** A step is a node, an operand, a name of a path, or a character of a text that is made. */
  steps: StepBudget;
  /** Bytes of UTF-8 of the result. */
  bytes: StepBudget;
}

/** Nested groups and `if` of a template. */
const MAX_NESTING = 16;

type Token = { kind: "field" | "name" | "constant" | "sign"; text: string; value?: Json };

type Node =
  | { kind: "text"; text: string }
  | { kind: "action"; pipeline: Pipeline }
  | { kind: "if"; branches: { condition: Pipeline | null; nodes: Node[] }[] };

type Pipeline = Operand[][];

type Operand =
  | { kind: "field"; path: string[] }
  | { kind: "function"; name: string }
  | { kind: "constant"; value: Json }
  | { kind: "group"; pipeline: Pipeline };

/** A parsed template. */
export type Template = readonly Node[];

/** The result of a template. */
export interface TemplateResult {
  text: string;
  /** The value of a template that is nothing but one action. */
  value?: Json;
  /** Whether the text contains values, or only text of the template. */
  hasValues: boolean;
}

/** @throws TemplateError */
export function parseTemplate(text: string): Template {
  const pieces = split(text);
  const nodes = parseNodes(pieces, [], MAX_NESTING);
  if (pieces.length > 0) throw new TemplateError("{{end}} or {{else}} without {{if}}");
  return nodes;
}

/**
 * @param data the value of the dot
 * @throws TemplateError if a field or method does not exist, a value is missing, or the budget is used up
 */
export function executeTemplate(
  template: Template,
  data: TemplateStruct,
  budget: TemplateBudget,
): TemplateResult {
  const [only, ...others] = template;
  if (only?.kind === "action" && others.length === 0) {
    const value = jsonOf(evaluate(only.pipeline, data, budget.steps), budget.steps);
    const text = print(value, budget.steps);
    return { text: written(text, budget), value, hasValues: true };
  }
  return execute(template, data, budget);
}

/**
 * Takes steps from a budget.
 *
 * @throws TemplateError if it is used up
 */
export function spend(budget: StepBudget, steps = 1): void {
  if (!budget.take(steps)) throw new TemplateError(`it takes more than ${budget.limit} steps`);
}

/** @throws TemplateError if the output is too long with a text */
function written(text: string, { bytes }: TemplateBudget): string {
  if (!bytes.take(Buffer.byteLength(text))) throw new TemplateError("its value is too long");
  return text;
}

function execute(nodes: readonly Node[], data: TemplateStruct, budget: TemplateBudget): TemplateResult {
  const { steps } = budget;
  const result = { text: "", hasValues: false };
  for (const node of nodes) {
    spend(steps);
    if (node.kind === "text") result.text += written(node.text, budget);
    else if (node.kind === "action") {
      result.text += written(print(jsonOf(evaluate(node.pipeline, data, steps), steps), steps), budget);
      result.hasValues = true;
    } else {
      const branch = node.branches.find(
        ({ condition }) => condition === null || isTrue(evaluate(condition, data, steps)),
      );
      const { text, hasValues } = execute(branch?.nodes ?? [], data, budget);
      result.text += text;
      result.hasValues ||= hasValues;
    }
  }
  return result;
}

type Piece = { text: string } | { action: Token[] };

/** Splits a template into text and the tokens of its actions. Comments are left out. */
function split(template: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = template;
  let trimsNext = false;
  for (;;) {
    const start = rest.indexOf("{{");
    const trims = start >= 0 && /^\{\{-\s/.test(rest.slice(start));
    let text = start < 0 ? rest : rest.slice(0, start);
    if (trimsNext) text = text.trimStart();
    if (trims) text = text.trimEnd();
    if (text !== "") pieces.push({ text });
    if (start < 0) return pieces;
    rest = rest.slice(start + (trims ? 3 : 2));
    const comment = /^\s*\/\*[\s\S]*?\*\/\s*?( -)?\}\}/.exec(rest);
    if (comment) {
      trimsNext = comment[1] !== undefined;
      rest = rest.slice(comment[0].length);
      continue;
    }
    const action = tokens(rest);
    pieces.push({ action: action.tokens });
    trimsNext = action.trims;
    rest = rest.slice(action.length);
  }
}

const tokenPattern =
  /\s*(?:(?<end>(?<trim>(?<=\s)-)?\}\})|(?<field>\.(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?)|(?<name>[A-Za-z_]\w*)|(?<quoted>"(?:[^"\\\n]|\\.)*")|(?<raw>`[^`]*`)|(?<number>-?\d+(?:\.\d+)?)|(?<sign>[()|]))/y;

const words = new Map<string, Json>([
  ["true", true],
  ["false", false],
]);

/** Reads the tokens up to the end of an action. */
function tokens(text: string): { tokens: Token[]; length: number; trims: boolean } {
  const found: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (;;) {
    const at = tokenPattern.lastIndex;
    const groups = tokenPattern.exec(text)?.groups;
    if (!groups) throw new TemplateError(`unexpected ${JSON.stringify(text.slice(at, at + 10))}`);
    const { end, trim, field, name, quoted, raw, number, sign } = groups;
    if (end !== undefined)
      return { tokens: found, length: tokenPattern.lastIndex, trims: trim !== undefined };
    if (field !== undefined) found.push({ kind: "field", text: field });
    else if (name !== undefined && words.has(name))
      found.push({ kind: "constant", text: name, value: words.get(name) ?? null });
    else if (name !== undefined) found.push({ kind: "name", text: name });
    else if (sign !== undefined) found.push({ kind: "sign", text: sign });
    else if (raw !== undefined) found.push({ kind: "constant", text: raw, value: raw.slice(1, -1) });
    else if (number !== undefined) found.push({ kind: "constant", text: number, value: Number(number) });
    else if (quoted !== undefined) found.push({ kind: "constant", text: quoted, value: unquote(quoted) });
  }
}

/** The escapes that Go and JSON share. */
function unquote(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new TemplateError(`${text} is not a string`);
  }
}

/**
 * Takes pieces up to an action that begins with one of the given words, which stays.
 *
 * @param levels that may be nested in these pieces
 */
function parseNodes(pieces: Piece[], until: readonly string[], levels: number): Node[] {
  const nodes: Node[] = [];
  for (let piece = pieces[0]; piece; piece = pieces[0]) {
    if ("text" in piece) {
      nodes.push({ kind: "text", text: piece.text });
      pieces.shift();
      continue;
    }
    const [first, ...rest] = piece.action;
    const word = first?.kind === "name" ? first.text : "";
    if (word === "end" || word === "else") {
      if (until.includes(word)) return nodes;
      throw new TemplateError(`{{${word}}} without {{if}}`);
    }
    pieces.shift();
    nodes.push(
      word === "if"
        ? parseIf(rest, pieces, deeper(levels))
        : { kind: "action", pipeline: parsePipeline(piece.action) },
    );
  }
  if (until.length > 0) throw new TemplateError("{{if}} without {{end}}");
  return nodes;
}

function deeper(levels: number): number {
  if (levels === 0) throw new TemplateError(`more than ${MAX_NESTING} nested levels`);
  return levels - 1;
}

function parseIf(condition: Token[], pieces: Piece[], levels: number): Node {
  const branches: { condition: Pipeline | null; nodes: Node[] }[] = [];
  let next: Token[] | null = condition;
  for (;;) {
    const isLast: boolean = next === null;
    const parsed = next === null ? null : parsePipeline(next);
    branches.push({
      condition: parsed,
      nodes: parseNodes(pieces, isLast ? ["end"] : ["end", "else"], levels),
    });
    const piece = pieces.shift();
    const [word, ...rest] = piece && "action" in piece ? piece.action : [];
    if (word?.text === "end") return { kind: "if", branches };
    const [second, ...others] = rest;
    if (second === undefined) next = null;
    else if (second.kind === "name" && second.text === "if") next = others;
    else throw new TemplateError(`unexpected ${second.text} after else`);
  }
}

function parsePipeline(given: Token[]): Pipeline {
  const rest = [...given];
  const pipeline = parseCommands(rest, MAX_NESTING);
  if (rest.length > 0) throw new TemplateError(`unexpected ${rest[0]?.text}`);
  return pipeline;
}

/** Takes commands, separated by `|`, up to a closing parenthesis or the end. */
function parseCommands(rest: Token[], levels: number): Pipeline {
  const pipeline: Pipeline = [[]];
  for (let token = rest[0]; token && token.text !== ")"; token = rest[0]) {
    rest.shift();
    if (token.kind === "sign" && token.text === "|") pipeline.push([]);
    else pipeline.at(-1)?.push(parseOperand(token, rest, levels));
  }
  if (pipeline.some((command) => command.length === 0)) throw new TemplateError("missing value for command");
  return pipeline;
}

function parseOperand(token: Token, rest: Token[], levels: number): Operand {
  if (token.kind === "field") return { kind: "field", path: token.text.split(".").filter(Boolean) };
  if (token.kind === "constant") return { kind: "constant", value: token.value ?? null };
  if (token.kind === "name") {
    if (!functions.has(token.text)) throw new TemplateError(`function "${token.text}" not defined`);
    return { kind: "function", name: token.text };
  }
  const pipeline = parseCommands(rest, deeper(levels));
  if (rest.shift()?.text !== ")") throw new TemplateError("unclosed left paren");
  return { kind: "group", pipeline };
}

/** The value of each command is the last argument of the next. */
function evaluate(pipeline: Pipeline, data: TemplateStruct, steps: StepBudget): TemplateValue {
  let result: TemplateValue[] = [];
  for (const [first, ...others] of pipeline) {
    if (!first) throw new TemplateError("missing value for command");
    const given = [...others.map((operand) => operandValue(operand, data, steps)), ...result];
    result = [call(first, given, data, steps)];
  }
  return result[0] ?? null;
}

function call(
  operand: Operand,
  given: TemplateValue[],
  data: TemplateStruct,
  steps: StepBudget,
): TemplateValue {
  if (operand.kind === "function") {
    spend(steps);
    return functions.get(operand.name)?.(given, steps) ?? null;
  }
  const value = operandValue(operand, data, steps, given);
  if (given.length > 0 && operand.kind !== "field") throw new TemplateError("a value is not a function");
  return value;
}

function operandValue(
  operand: Operand,
  data: TemplateStruct,
  steps: StepBudget,
  given: TemplateValue[] = [],
): TemplateValue {
  spend(steps, operand.kind === "field" ? 1 + operand.path.length : 1);
  if (operand.kind === "constant") return operand.value;
  if (operand.kind === "group") return evaluate(operand.pipeline, data, steps);
  if (operand.kind === "function") return call(operand, [], data, steps);
  let value: TemplateValue = data;
  for (const name of operand.path) {
    const found: TemplateValue | undefined =
      value instanceof TemplateStruct ? value.fields.get(name) : undefined;
    if (found === undefined) throw new TemplateError(`there is no .${operand.path.join(".")}`);
    value = found;
  }
  if (typeof value === "function") return value(given, steps);
  if (given.length > 0) throw new TemplateError(`.${operand.path.join(".")} takes no arguments`);
  return value;
}

const functions = new Map<string, TemplateMethod>([
  ["and", (given) => given.find((value) => !isTrue(value)) ?? given.at(-1) ?? null],
  ["or", (given) => given.find(isTrue) ?? given.at(-1) ?? null],
  ["not", ([value = null]) => !isTrue(value)],
  ["eq", ([first, ...others]) => others.some((other) => other === first)],
  ["ne", ([first, second]) => first !== second],
  ["len", ([value = null], steps) => lengthOf(jsonOf(value, steps), steps)],
  ["print", (given, steps) => given.map((value) => print(jsonOf(value, steps), steps)).join("")],
  ["printf", ([format = "", ...given], steps) => formatted(String(jsonOf(format, steps)), given, steps)],
]);

/** `%s`, `%v`, `%d`, `%t` print a value, `%%` a percent sign. */
function formatted(format: string, given: TemplateValue[], steps: StepBudget): string {
  spend(steps, format.length);
  const rest = [...given];
  const text = format.replaceAll(/%(.?)/gs, (_, verb: string) => {
    if (verb === "%") return "%";
    const value = rest.shift();
    if (!"svdt".includes(verb) || verb === "" || value === undefined)
      throw new TemplateError(`printf cannot print %${verb}`);
    return print(jsonOf(value, steps), steps);
  });
  if (rest.length > 0) throw new TemplateError("printf has more arguments than verbs");
  return text;
}

function lengthOf(value: Json, steps: StepBudget): number {
  if (typeof value !== "string" && (typeof value !== "object" || value === null))
    throw new TemplateError("len of a value without length");
  const length = typeof value === "string" ? Buffer.byteLength(value) : Object.keys(value).length;
  spend(steps, length);
  return length;
}

/** False, 0, nothing, and empty strings, lists and objects are false. */
function isTrue(value: TemplateValue): boolean {
  if (value instanceof TemplateStruct) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== "object" || value === null) return Boolean(value);
  for (const name in value) if (Object.hasOwn(value, name)) return true;
  return false;
}

function jsonOf(value: TemplateValue, steps: StepBudget): Json {
  if (value instanceof TemplateStruct) return value.json;
  if (typeof value === "function") return jsonOf(value([], steps), steps);
  return value;
}

function print(value: Json, steps: StepBudget): string {
  if (value === null) throw new TemplateError("a value is missing");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  spend(steps, text.length);
  return text;
}
