/** A reader of OpenMetrics 1.0.0 that is as strict as the text of the standard. It shares no code with the writer. */

export interface Family {
  type: string;
  unit: string;
  help: string;
  samples: Sample[];
}

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
  exemplar?: Exemplar;
}

/** "Exemplars": a measured value of a bucket. */
export interface Exemplar {
  labels: Record<string, string>;
  value: number;
  /** In seconds since 1970. */
  at: number | null;
}

/** Characters of the names and values of an exemplar's labels. */
const MAX_EXEMPLAR_LENGTH = 128;

const suffixes: Record<string, readonly string[]> = {
  counter: ["_total"],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
};

/** @throws Error that names the line which the standard does not permit */
export function parseOpenMetrics(text: string): Map<string, Family> {
  if (!text.endsWith("\n# EOF\n")) throw new Error("it does not end with # EOF");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: [name: string, family: Family] | undefined;
  for (const line of text.slice(0, -"# EOF\n".length).split("\n").slice(0, -1)) {
    const refuse = (why: string) => new Error(`${why}: ${line}`);
    const [, kind, name = "", rest = ""] = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? [];
    if (kind === "TYPE") {
      if (families.has(name)) throw refuse("a family comes twice");
      if (!Object.hasOwn(suffixes, rest)) throw refuse("an unknown type");
      current = [name, { type: rest, unit: "", help: "", samples: [] }];
      families.set(...current);
    } else if (kind) {
      if (current?.[0] !== name || current[1].samples.length > 0) throw refuse("it belongs to no family");
      if (kind === "UNIT" && !name.endsWith(`_${rest}`)) throw refuse("the name does not end with the unit");
      current[1][kind === "UNIT" ? "unit" : "help"] = rest;
    } else {
      const sample = sampleOf(line);
      if (!sample || !current) throw refuse("no sample");
      const [family, { type, samples }] = current;
      if (!suffixes[type]?.some((suffix) => sample.name === family + suffix))
        throw refuse("a sample of no family");
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      if (seen.has(key)) throw refuse("a sample comes twice");
      if (sample.exemplar) {
        const { labels, value } = sample.exemplar;
        if (!/_(?:bucket|total)$/.test(sample.name)) throw refuse("no exemplar may be here");
        if (Object.entries(labels).flat().join("").length > MAX_EXEMPLAR_LENGTH)
          throw refuse("the labels of the exemplar are too long");
        if (value > numberOf(sample.labels.le ?? "+Inf")) throw refuse("the exemplar is not in the bucket");
      }
      seen.add(key);
      samples.push(sample);
    }
  }
  return families;
}

const labelSet = String.raw`\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\}`;
const number = String.raw`([+-]?(?:\d|\.\d|Inf|NaN)\S*)`;
const sampleLine = new RegExp(
  String.raw`^([a-zA-Z_:][\w:]*)(?:${labelSet})? ${number}( # ${labelSet} ${number}(?: ${number})?)?$`,
);

function sampleOf(line: string): Sample | null {
  const [, name, labels = "", value, exemplar, ofExemplar = "", measured = "", at] =
    sampleLine.exec(line) ?? [];
  if (name === undefined || value === undefined) return null;
  return {
    name,
    labels: labelsOf(labels),
    value: numberOf(value),
    ...(exemplar
      ? { exemplar: { labels: labelsOf(ofExemplar), value: numberOf(measured), at: at ? Number(at) : null } }
      : {}),
  };
}

const numberOf = (text: string) => Number(text.replace("Inf", "Infinity"));

function labelsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g);
  return Object.fromEntries([...pairs].map(([, label, value = ""]) => [label, unescaped(value)]));
}

const unescaped = (text: string) => text.replaceAll(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
