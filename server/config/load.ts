import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { z } from "zod";
import { nearestName } from "../lib/nearest-name.ts";
import { isTree, merge, type Tree, valueAt, withValueAt } from "../lib/tree.ts";
import { ConfigError } from "./errors.ts";
import { withPlatform } from "./platform.ts";
import { violatedRule } from "./rules.ts";
import { type Config, configSchema, type SettingSource } from "./schema.ts";
import { type SettingSchema, settingSchema } from "./setting-schema.ts";
import { parseWithinBounds } from "./within-bounds.ts";

/** Settings whose variables have no prefix; every other leaf is STILE_<SECTION>_<LEAF>. */
const plainNames = new Set(["port", "base_url", "database_url", "data_dir", "smtp_url", "secret_keys"]);

/** Settings whose variables others have named. */
const givenNames: Record<string, string> = { "jobs.cron_secret": "CRON_SECRET" };

interface Leaf {
  path: string[];
  /** For an object with free keys: the names and types below each key. */
  members?: Record<string, Leaf["type"]>;
  variable: string;
  type: "string" | "number" | "boolean" | "list" | "object";
  description: string;
  default: unknown;
  /** Accepted values: a choice, or bounds of a number, a length or a duration in seconds; empty where there are none. */
  accepts: string;
  /** It, or a value in it, is a secret. */
  secret: boolean;
}

let leaves: Leaf[] | undefined;
let leavesByName: ReadonlyMap<string, Leaf> | undefined;

/** The leaf of a name such as `email.enabled`. */
function leafNamed(name: string): Leaf | undefined {
  leavesByName ??= new Map(configLeaves().map((leaf) => [leaf.path.join("."), leaf]));
  return leavesByName.get(name);
}

/** Every leaf of the tree, with the name of its environment variable and its bounds; source of the reference in `docs/`. */
export function configLeaves(): Leaf[] {
  leaves ??= leavesOf(settingSchema());
  return leaves;
}

function leavesOf(whole: SettingSchema): Leaf[] {
  const walk = (schema: SettingSchema, path: string[]): Leaf[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
      const leafPath = [...path, name];
      if (child.properties) return walk(child, leafPath);
      return [
        {
          path: leafPath,
          variable: variableOf(leafPath),
          type: leafType(child),
          description: child.description ?? "",
          default: child.default,
          accepts: acceptedValues(child),
          secret: holdsSecret(child),
          ...membersOf(child),
        },
      ];
    });
  return walk(whole, []);
}

/** Returns the name of the variable of a leaf or section. */
function variableOf(path: string[]): string {
  const given = givenNames[path.join(".")];
  if (given) return given;
  const name = path.join("_").toUpperCase();
  return path.length === 1 && plainNames.has(path[0] ?? "") ? name : `STILE_${name}`;
}

/** Describes the values that a leaf accepts, as its schema declares them. */
function acceptedValues({
  enum: choice,
  items,
  minimum,
  maximum,
  minLength,
  maxLength,
}: SettingSchema): string {
  if (choice) return choice.map(String).join(", ");
  if (items) return acceptedValues(items);
  const characters = minLength !== undefined || maxLength !== undefined;
  const [min, max] = characters ? [minLength, maxLength] : [minimum, maximum];
  const range = max === undefined ? (min ? `at least ${min}` : "") : `${min ?? 0} to ${max}`;
  return range && characters ? `${range} characters` : range;
}

function holdsSecret({
  secret,
  properties = {},
  additionalProperties,
  items,
  anyOf = [],
}: SettingSchema): boolean {
  const below = [...Object.values(properties), ...anyOf, additionalProperties, items];
  return secret === true || below.some((schema) => typeof schema === "object" && holdsSecret(schema));
}

function membersOf({ additionalProperties: each }: SettingSchema): Pick<Leaf, "members"> {
  if (typeof each !== "object" || !each.properties) return {};
  const members = Object.entries(each.properties).map(([name, child]) => [name, leafType(child)]);
  return { members: Object.fromEntries(members) };
}

function leafType(schema: SettingSchema): Leaf["type"] {
  const types = [schema.type, ...(schema.anyOf ?? []).map((option) => option.type)].flat();
  if (types.includes("array")) return "list";
  if (types.includes("object")) return "object";
  if (types.includes("boolean")) return "boolean";
  if (types.includes("integer") || types.includes("number"))
    return types.includes("string") ? "string" : "number";
  return "string";
}

/**
 * Reads the configuration: defaults, then `stile.config.json` in `directory`, then the environment.
 *
 * @param environment variables, as in `process.env`; an empty value counts as absent
 * @param directory folder of `stile.config.json`
 * @param file what is read in its place. Default: that file
 * @throws ConfigError with one line that names the invalid setting
 */
export function loadConfig(
  environment: Record<string, string | undefined>,
  directory: string,
  file: Tree = readFile(directory),
): Config {
  const { tree, variables } = readEnvironment(environment);
  const raw = withPlatform(merge(file, tree), environment);
  return parseConfig(
    { base: {}, over: raw },
    {
      mode: environment.NODE_ENV === "production" ? "production" : "development",
      directory,
      sources: sourcesOf({ environment: tree, file, platform: raw }),
      sourceOf(path) {
        if (valueAt(file, path) !== undefined) return CONFIG_FILE;
        const set = variables.find((leaf) => leaf.path.every((name, index) => name === path[index]));
        return set ? `environment variable ${set.variable}` : null;
      },
    },
  );
}

const CONFIG_FILE = "stile.config.json";

/** Tells where the leaves that are set were read from. @param trees what was read, that which overrides first */
function sourcesOf(trees: Record<SettingSource, Tree>): Config["sources"] {
  const places = Object.entries(trees) as [SettingSource, Tree][];
  return Object.fromEntries(
    configLeaves().flatMap(({ path }) => {
      const place = places.find(([, tree]) => valueAt(tree, path) !== undefined);
      return place ? [[path.join("."), place[0]]] : [];
    }),
  );
}

/**
 * Completes a tree of settings to a configuration: fills in defaults and derived values.
 *
 * @param raw settings by the names of the tree; those of `over` override those of `base`. Entries beyond a bound are
 *   left out and listed in `ignored`
 * @param directory that relative folders start from
 * @param sources of the configuration of a server, where its leaves were read from
 * @param sourceOf says where a setting was read from, for the error that it does not exist
 * @param ignoreUnknown whether entries without a name of a setting are left out too, because another version has stored them
 * @throws ConfigError with one line that names the invalid setting
 */
export function parseConfig(
  raw: { base: Tree; over: Tree },
  {
    mode,
    directory,
    sources = {},
    sourceOf = () => null,
    ignoreUnknown = false,
  }: {
    mode: Config["mode"];
    directory: string;
    sources?: Config["sources"];
    sourceOf?: (path: readonly string[]) => string | null;
    ignoreUnknown?: boolean;
  },
): Config {
  const { parsed, ignored } = parseWithinBounds(configSchema, raw, settingName, ignoreUnknown);
  if (!parsed.success) throw new ConfigError(describeIssue(parsed.error.issues[0], sourceOf), ignored);
  const tree = parsed.data;
  // The normal form of the URL standard: browsers compare origins in it, and it decides whether cookies are Secure.
  const { hostname, origin } = new URL(tree.base_url ?? `http://localhost:${tree.port}`);
  const { webauthn, authenticator, passkey_server } = tree;
  const relyingParty = {
    id: webauthn.relying_party.id ?? hostname,
    display_name: webauthn.relying_party.display_name ?? tree.service.name,
    origins: webauthn.relying_party.origins.length > 0 ? webauthn.relying_party.origins : [origin],
  };
  const ofPasskeys = passkey_server.relying_party;
  const config: Config = {
    ...tree,
    ignored,
    sources,
    mode,
    data_dir: resolve(directory, tree.data_dir),
    base_url: origin,
    console: { ...tree.console, host: tree.console.host?.toLowerCase() ?? hostname },
    webauthn: {
      ...webauthn,
      metadata_file: webauthn.metadata_file && resolve(directory, webauthn.metadata_file),
      relying_party: relyingParty,
    },
    authenticator: {
      ...authenticator,
      location_file: authenticator.location_file && resolve(directory, authenticator.location_file),
    },
    passkey_server: {
      ...passkey_server,
      mfa: { ...passkey_server.mfa, timeout: passkey_server.mfa.timeout ?? passkey_server.timeout },
      relying_party: {
        id: ofPasskeys.id ?? relyingParty.id,
        display_name: ofPasskeys.display_name ?? relyingParty.display_name,
        icon: ofPasskeys.icon,
        origins: ofPasskeys.origins.length > 0 ? ofPasskeys.origins : relyingParty.origins,
      },
    },
  };
  const violation = violatedRule(config, tree.base_url);
  if (violation) throw new ConfigError(withPaths(violation), ignored);
  return config;
}

/** Adds to the names of variables what the settings are called in a file, as in the other errors. */
function withPaths(text: string): string {
  const leaves = configLeaves();
  return text.replace(/\bSTILE_[A-Z0-9_]+/g, (name) => {
    const leaf = leaves.find(({ variable }) => variable === name);
    return leaf ? `${name} (${leaf.path.join(".")})` : name;
  });
}

function readFile(directory: string): Tree {
  const file = join(directory, CONFIG_FILE);
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new ConfigError(`stile.config.json cannot be read: ${(error as Error).message}`);
  }
  try {
    const value: unknown = JSON.parse(content);
    if (isTree(value)) return value;
  } catch (error) {
    throw new ConfigError(`stile.config.json is not JSON: ${(error as Error).message}`);
  }
  throw new ConfigError("stile.config.json does not hold an object");
}

/** Reads the settings of an environment, with the variables that set them, those of whole sections last. */
function readEnvironment(environment: Record<string, string | undefined>): {
  tree: Tree;
  variables: Leaf[];
} {
  const leaves = configLeaves();
  const known = new Set(leaves.map((leaf) => leaf.variable));
  // Silently ignoring a misspelt name would leave its setting at the default.
  const others = Object.keys(environment).filter((name) => name.startsWith("STILE_") && !known.has(name));
  const below = others.map((name) => [name, sectionNamed(leaves, name) ?? leafBelow(leaves, name)] as const);
  const unknown = below.find(([, leaf]) => !leaf);
  if (unknown) throw new ConfigError(unknownSetting(unknown[0], "environment variable", known));
  let tree: Tree = {};
  const found = below.flatMap(([, leaf]) => leaf ?? []);
  // Whole sections first, so that variables of single leaves override them.
  const sections = found
    .filter(({ type }) => type === "object")
    .sort((one, other) => one.path.length - other.path.length);
  const variables: Leaf[] = [];
  for (const leaf of [...sections, ...leaves, ...found.filter(({ type }) => type !== "object")]) {
    const value = environment[leaf.variable];
    if (value === undefined || value === "") continue;
    tree = withValueAt(tree, leaf.path, parseVariable(leaf, value));
    variables.unshift(leaf);
  }
  return { tree, variables };
}

/** Returns the section that a variable names, given whole as a JSON object: `STILE_MFA={"optional":false}`. */
function sectionNamed(leaves: Leaf[], variable: string): Leaf | undefined {
  const leaf = leaves.find((one) => one.variable.startsWith(`${variable}_`));
  if (!leaf) return undefined;
  const depth = leaf.path.findIndex((_, index) => variableOf(leaf.path.slice(0, index + 1)) === variable);
  return depth < 0 ? undefined : { ...leaf, variable, path: leaf.path.slice(0, depth + 1), type: "object" };
}

/** Returns the leaf that a variable names under a free key: `STILE_THIRD_PARTY_CUSTOM_PROVIDERS_<KEY>_CLIENT_ID`. */
function leafBelow(leaves: Leaf[], variable: string): Leaf | undefined {
  for (const leaf of leaves) {
    if (!leaf.members || !variable.startsWith(`${leaf.variable}_`)) continue;
    const rest = variable.slice(leaf.variable.length + 1).toLowerCase();
    // The longest name first: `use_discovery` is not the leaf `discovery` of a key `use`.
    const names = Object.keys(leaf.members).sort((one, other) => other.length - one.length);
    const name = names.find((member) => rest.endsWith(`_${member}`));
    const below = { ...leaf, variable, members: {} };
    // A map below the key, whose names are free too: `…_<KEY>_ATTRIBUTE_MAPPING_EMAIL`.
    const map = names.find((member) => leaf.members?.[member] === "object" && rest.includes(`_${member}_`));
    if (map) {
      const at = rest.indexOf(`_${map}_`);
      const inner = rest.slice(at + map.length + 2);
      return { ...below, path: [...leaf.path, rest.slice(0, at), map, inner], type: "string" };
    }
    if (!name) return undefined;
    const key = rest.slice(0, -name.length - 1);
    return { ...below, path: [...leaf.path, key, name], type: leaf.members[name] ?? "string" };
  }
  return undefined;
}

function parseVariable(leaf: Leaf, value: string): unknown {
  const invalid = (expected: string) => new ConfigError(`${leaf.variable} must be ${expected}`);
  switch (leaf.type) {
    case "boolean":
      if (value !== "true" && value !== "false") throw invalid("true or false");
      return value === "true";
    case "number":
      if (!/^-?\d+$/.test(value)) throw invalid("a whole number");
      return Number(value);
    case "list":
      if (!value.trimStart().startsWith("["))
        return value
          .split(",")
          .map((part) => part.trim())
          .filter(Boolean);
      return parseJson(value, invalid("a comma separated list or a JSON array"));
    case "object":
      return parseJson(value, invalid("a JSON object"));
    case "string":
      return value;
  }
}

function parseJson(value: string, otherwise: ConfigError): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw otherwise;
  }
}

/**
 * Says that a setting does not exist: where it was read from, and which one may have been meant.
 *
 * @param source where it was read from; null if the caller says it
 * @param known names of the same kind that exist
 */
function unknownSetting(name: string, source: string | null, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return `${name}${source === null ? "" : ` (${source})`} is not a setting${nearest === null ? "" : `; the nearest is ${nearest}`}`;
}

/** Every setting and every section by its path. */
function settingNames(): Set<string> {
  const paths = configLeaves().flatMap(({ path, members = {} }) => [
    ...path.map((_, depth) => path.slice(0, depth + 1)),
    ...Object.keys(members).map((name) => [...path, name]),
  ]);
  return new Set(paths.map((path) => path.join(".")));
}

function describeIssue(
  issue: z.core.$ZodIssue | undefined,
  sourceOf: (path: readonly string[]) => string | null,
): string {
  if (!issue) return "the configuration is invalid";
  const [unknown] = issue.code === "unrecognized_keys" ? issue.keys : [];
  return unknown === undefined
    ? `${settingName(issue.path)}: ${issue.message}`
    : unknownAt([...issue.path, unknown], sourceOf);
}

/**
 * Says that there is no setting at a path, and which one may have been meant.
 *
 * @param sourceOf says where it was read from. Default: the caller says it
 */
export function unknownAt(
  whole: readonly PropertyKey[],
  sourceOf: (path: readonly string[]) => string | null = () => null,
): string {
  // An index into a list is not the name of a setting.
  const path = whole.filter((part) => typeof part === "string");
  return unknownSetting(settingName(path), sourceOf(path), settingNames());
}

/** Characters of a path in messages. A key of a map may be longer. */
const MAX_NAMED_CHARACTERS = 120;

/** Names a setting as a file and the environment do. */
function settingName(whole: readonly PropertyKey[]): string {
  // An index into a list is not the name of a setting.
  const path = whole.filter((part) => typeof part === "string").join(".");
  const leaf = leafNamed(path);
  if (leaf) return `${leaf.variable} (${path})`;
  return path.length > MAX_NAMED_CHARACTERS ? `${path.slice(0, MAX_NAMED_CHARACTERS).toWellFormed()}…` : path;
}
