import { XmlError } from "./xml-error.ts";
import { attributesOf, kindOf, rootScope, type Scope, scopeOf } from "./xml-namespaces.ts";

/**
 * A strict XML parser for SAML: no document types, no entities but the five predefined ones, no processing instructions,
 * no CDATA. Parsers differ in these, and the known signature bypasses exploit such differences. All parsers interpret the
 * documents that this one accepts in the same way.
 */

/** An element of Namespaces in XML 1.0. */
export interface XmlElement {
  /** Expanded name: `prefix:name` for the namespaces of SAML, by their usual prefixes; `{namespace}name` for all others. */
  kind: string;
  /** By qualified name, without namespace declarations. */
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  /** Its direct text, concatenated. */
  text: string;
}

export interface XmlLimits {
  /** Maximum size. */
  bytes: number;
  /** Maximum number. */
  elements: number;
  /** Whether comments are ignored instead of rejected; only for documents whose signature is not verified. */
  comments: boolean;
}

const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 64;

/** ASCII names only: SAML uses no others, and other letters can look alike. */
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

/** Any character outside XML 1.0 (section 2.2). */
const invalidCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

interface OpenElement {
  element: XmlElement;
  name: string;
  scope: Scope;
}

const whiteSpace = " \t\n\r";

/**
 * Returns the text of an element, trimmed of the white space of XML 1.0 (2.3). Other spaces are kept, because providers
 * may distinguish users by them.
 */
export function textOf({ text }: Pick<XmlElement, "text">): string {
  let from = 0;
  let to = text.length;
  while (from < to && whiteSpace.includes(text.charAt(from))) from += 1;
  while (to > from && whiteSpace.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/**
 * Parses a document in linear time.
 *
 * @param document UTF-8
 * @returns the root element
 * @throws XmlError if the document is not accepted
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
    if (open.push({ element, name: tag, scope }) > MAX_DEPTH)
      throw new XmlError("the document is nested too deeply");
  } while (open.length > 0);
  skipMisc();
  if (!root || at !== text.length) throw new XmlError("there is something after the root element");
  return root;
}

function decode(document: Uint8Array | string, { bytes }: XmlLimits): string {
  const encoded = typeof document === "string" ? Buffer.from(document) : document;
  if (encoded.length > bytes) throw new XmlError("the document is too large");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(encoded);
  } catch {
    throw new XmlError("the document is not UTF-8");
  }
  if (invalidCharacter.test(text)) throw new XmlError("there are characters that XML does not allow");
  // XML 1.0, 2.11.
  return text.replace(/\r\n?/g, "\n");
}

function readAttributes(take: () => RegExpExecArray | null): Map<string, string> {
  const attributes = new Map<string, string>();
  for (let found = take(); found; found = take()) {
    const [, key = "", double, single = ""] = found;
    if (attributes.has(key) || attributes.size === MAX_ATTRIBUTES)
      throw new XmlError("an element has an attribute twice, or too many");
    // XML 1.0, 3.3.3: line breaks and tabs are read as spaces.
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
      if (!(code <= 0x10ffff)) throw new XmlError("there is an entity that XML does not predefine");
      const character = String.fromCodePoint(code);
      if (invalidCharacter.test(character))
        throw new XmlError("there are characters that XML does not allow");
      return character;
    },
  );
}
