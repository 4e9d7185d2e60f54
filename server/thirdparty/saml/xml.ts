import { XmlError } from "./xml-error.ts";
import { attributesOf, kindOf, rootScope, type Scope, scopeOf } from "./xml-namespaces.ts";

/**
 * A reader of the XML that identity providers write, and of nothing else: no document types, no entities but the five
 * that XML names itself, no processing instructions, no CDATA. Readers differ in what they make of those, and every
 * known way around a signature lives in such a difference; what this one takes, all of them take for the same.
 */

/** An element of Namespaces in XML 1.0. */
export interface XmlElement {
  /** What it is: `prefix:name` for the namespaces of SAML, by their usual prefixes; `{namespace}name` for all others. */
  kind: string;
  /** By name, as written. Declarations of namespaces are not among them. */
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  /** What is written directly in it, put together. */
  text: string;
}

export interface XmlLimits {
  /** Most bytes. */
  bytes: number;
  /** Most elements. */
  elements: number;
  /** Whether comments are passed over instead of refused: for documents that no signature is looked for in. */
  comments: boolean;
}

const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 64;

/** Names of ASCII alone: nobody who writes SAML uses others, and other letters can look like these. */
const name = "[A-Za-z_][A-Za-z0-9._-]*";
const qualified = `${name}(?::${name})?`;

const grammar = {
  declaration:
    /<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.0"|'1\.0')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"utf-8"|'utf-8'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/iy,
  space: /[ \t\n]*/y,
  comment: /<!--(?:(?!--)[\s\S])*-->/y,
  text: /[^<]+/y,
  open: new RegExp(`<(${qualified})`, "y"),
  attribute: new RegExp(`[ \\t\\n]+(${qualified})[ \\t\\n]*=[ \\t\\n]*(?:"([^<"]*)"|'([^<']*)')`, "y"),
  openEnd: /[ \t\n]*(\/?)>/y,
  close: new RegExp(`</(${qualified})[ \\t\\n]*>`, "y"),
};

/** Everything that is no character of XML 1.0 (section 2.2). */
const invalidCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

interface OpenElement {
  element: XmlElement;
  name: string;
  scope: Scope;
}

const whiteSpace = " \t\n\r";

/**
 * The words of an element, without the white space of XML 1.0 (2.3) around them. Other spaces belong to them: people
 * whose names differ in those alone are two to their provider.
 */
export function textOf({ text }: Pick<XmlElement, "text">): string {
  let from = 0;
  let to = text.length;
  while (from < to && whiteSpace.includes(text.charAt(from))) from += 1;
  while (to > from && whiteSpace.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/**
 * Reads a document. Takes time in proportion to its length, whatever it is.
 *
 * @param document UTF-8
 * @returns the root element
 * @throws XmlError for anything that is not taken
 */
export function readXml(document: Uint8Array | string, limits: XmlLimits): XmlElement {
  const text = decode(document, limits);
  let at = 0;
  const take = (part: keyof typeof grammar): RegExpExecArray | null => {
    const expression = grammar[part];
    expression.lastIndex = at;
    const found = expression.exec(text);
    if (found) at = expression.lastIndex;
    return found;
  };
  const skipMisc = () => {
    do take("space");
    while (limits.comments && take("comment"));
  };

  let root: XmlElement | null = null;
  let elements = 0;
  const open: OpenElement[] = [];
  take("declaration");
  skipMisc();
  do {
    const parent = open.at(-1);
    const characters = parent && take("text");
    if (characters) {
      parent.element.text += resolve(characters[0]);
      continue;
    }
    if (limits.comments && take("comment")) continue;
    const closing = take("close");
    if (closing) {
      if (closing[1] !== open.pop()?.name) throw new XmlError("an end tag has no start");
      continue;
    }
    const opening = take("open");
    if (!opening) throw new XmlError("there is something other than elements and text");
    if (++elements > limits.elements) throw new XmlError("there are too many elements");
    const written = readAttributes(() => take("attribute"));
    const end = take("openEnd");
    if (!end) throw new XmlError("a tag is not well-formed");
    const [, tag = ""] = opening;
    const scope = scopeOf(written, parent?.scope ?? rootScope);
    const element: XmlElement = {
      kind: kindOf(tag, scope),
      attributes: attributesOf(written, scope),
      children: [],
      text: "",
    };
    if (parent) parent.element.children.push(element);
    else root = element;
    if (end[1] === "/") continue;
    if (open.push({ element, name: tag, scope }) > MAX_DEPTH) throw new XmlError("it is nested too deep");
  } while (open.length > 0);
  skipMisc();
  if (!root || at !== text.length) throw new XmlError("there is something after the root element");
  return root;
}

function decode(document: Uint8Array | string, { bytes }: XmlLimits): string {
  const encoded = typeof document === "string" ? Buffer.from(document) : document;
  if (encoded.length > bytes) throw new XmlError("it is too large");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(encoded);
  } catch {
    throw new XmlError("it is not UTF-8");
  }
  if (invalidCharacter.test(text)) throw new XmlError("there are characters that XML does not have");
  // XML 1.0, 2.11.
  return text.replace(/\r\n?/g, "\n");
}

function readAttributes(take: () => RegExpExecArray | null): Map<string, string> {
  const attributes = new Map<string, string>();
  for (let found = take(); found; found = take()) {
    const [, key = "", double, single = ""] = found;
    if (attributes.has(key) || attributes.size === MAX_ATTRIBUTES)
      throw new XmlError("an element has an attribute twice, or too many");
    // XML 1.0, 3.3.3: what is written as a line break or a tab reads as a space.
    attributes.set(key, resolve((double ?? single).replace(/[\t\n]/g, " ")));
  }
  return attributes;
}

const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function resolve(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:([a-z]{2,4});|#([0-9]{1,7});|#x([0-9a-fA-F]{1,6});)?/g,
    (_, entity, decimal, hex) => {
      if (entity !== undefined && Object.hasOwn(entities, entity)) return entities[entity] ?? "";
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      if (!(code <= 0x10ffff)) throw new XmlError("there is an entity that is not XML's own");
      const character = String.fromCodePoint(code);
      if (invalidCharacter.test(character)) throw new XmlError("there are characters that XML does not have");
      return character;
    },
  );
}
