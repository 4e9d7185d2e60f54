import { XmlError } from "./xml-error.ts";

/** Resolution of prefixes (Namespaces in XML 1.0). */

/** Namespaces in scope, by prefix. */
export type Scope = ReadonlyMap<string, string>;

const xmlNamespace = "http://www.w3.org/XML/1998/namespace";
const xmlnsNamespace = "http://www.w3.org/2000/xmlns/";

/** The scope outside the root element. */
export const rootScope: Scope = new Map([["xml", xmlNamespace]]);

/** Limited, because parsers copy the scope at every element. */
const MAX_PREFIXES = 64;

/** The namespaces of SAML, by their usual prefixes. */
const prefixes = new Map([
  ["urn:oasis:names:tc:SAML:2.0:protocol", "samlp"],
  ["urn:oasis:names:tc:SAML:2.0:assertion", "saml"],
  ["urn:oasis:names:tc:SAML:2.0:metadata", "md"],
  ["http://www.w3.org/2000/09/xmldsig#", "ds"],
  ["http://www.w3.org/2001/04/xmlenc#", "xenc"],
  ["http://www.w3.org/2009/xmlenc11#", "xenc11"],
  ["http://www.w3.org/2001/10/xml-exc-c14n#", "ec"],
]);

/** Returns the scope of an element: its declarations and the enclosing scope (Namespaces in XML 1.0, 3 and 6). */
export function scopeOf(attributes: ReadonlyMap<string, string>, around: Scope): Scope {
  const declared = [...attributes].filter(([key]) => key === "xmlns" || key.startsWith("xmlns:"));
  if (declared.length === 0) return around;
  const scope = new Map(around);
  for (const [key, namespace] of declared) {
    const prefix = key === "xmlns" ? "" : key.slice("xmlns:".length);
    const taken = prefix === "xml" || prefix === "xmlns";
    const reserved = namespace === xmlNamespace || namespace === xmlnsNamespace;
    // Parsers treat relative namespace names differently, and canonicalization rejects them.
    const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:./.test(namespace) || (namespace === "" && prefix === "");
    if (taken || reserved || !absolute) throw new XmlError("a namespace declaration is invalid");
    scope.set(prefix, namespace);
  }
  if (scope.size > MAX_PREFIXES) throw new XmlError("there are too many namespaces");
  return scope;
}

/** Returns the expanded name of an element; see `XmlElement`. */
export function kindOf(tag: string, scope: Scope): string {
  const [prefix, local] = tag.includes(":") ? (tag.split(":") as [string, string]) : ["", tag];
  const namespace = namespaceOf(prefix, scope);
  const usual = prefixes.get(namespace);
  return usual ? `${usual}:${local}` : `{${namespace}}${local}`;
}

/** Returns the attributes without namespace declarations. Rejects duplicates, also under different prefixes. */
export function attributesOf(
  written: ReadonlyMap<string, string>,
  scope: Scope,
): ReadonlyMap<string, string> {
  const attributes = [...written].filter(([key]) => key !== "xmlns" && !key.startsWith("xmlns:"));
  const expanded = attributes.map(([key]) => {
    const [prefix, local] = key.split(":");
    return local === undefined ? key : `{${namespaceOf(prefix ?? "", scope)}}${local}`;
  });
  if (new Set(expanded).size < expanded.length) throw new XmlError("an element has an attribute twice");
  return new Map(attributes);
}

function namespaceOf(prefix: string, scope: Scope): string {
  const namespace = scope.get(prefix);
  if (namespace === undefined && prefix !== "") throw new XmlError("a prefix is not declared");
  return namespace ?? "";
}
