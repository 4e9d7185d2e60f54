import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readXml } from "./xml.ts";
import { XmlError } from "./xml-error.ts";

const limits = { bytes: 10_000, elements: 100, comments: false };
const read = (document: string, comments = false) => readXml(document, { ...limits, comments });

describe("readXml reads", () => {
  test("elements by their namespaces, regardless of prefixes", () => {
    const root = read(
      '<a:Response xmlns:a="urn:oasis:names:tc:SAML:2.0:protocol" xmlns="urn:x"><b/><b xmlns=""/><c:b xmlns:c="http://www.w3.org/2000/09/xmldsig#"/></a:Response>',
    );
    expect([root.kind, ...root.children.map(({ kind }) => kind)]).toEqual([
      "samlp:Response",
      "{urn:x}b",
      "{}b",
      "ds:b",
    ]);
  });

  test("text and attributes, resolving entities once", () => {
    const root = read(`<a b="&quot;&#65;&#x1F600;&apos;" c='&lt;"'>x &amp;lt; <d/>y&#13;\r\nz</a>`);
    expect(root.text).toBe("x &lt; y\r\nz");
    expect(Object.fromEntries(root.attributes)).toEqual({ b: "\"A😀'", c: '<"' });
  });

  test("line breaks and tabs in attributes as spaces", () => {
    expect(read('<a b="1\r\n2\t3&#10;"/>').attributes.get("b")).toBe("1 2 3\n");
  });

  test("documents with comments, if they are allowed", () => {
    const document = "<!-- a --><a><!-- <b> -->x<!----><b/></a><!-- c -->";
    expect(read(document, true)).toMatchObject({ text: "x", children: [{ kind: "{}b" }] });
    expect(() => read(document)).toThrow(XmlError);
  });
});

test.each([
  "",
  " ",
  "x",
  "<",
  "<a",
  "<a>",
  "</a>",
  "<a></b>",
  "<a><b></a></b>",
  "<a b/>",
  "<a b=c/>",
  '<a b="<"/>',
  '<a b="1" b="2"/>',
  '<a b="1"c="2"/>',
  '<a xmlns:p="urn:x" xmlns:q="urn:x" p:b="" q:b=""/>',
  "<p:a/>",
  '<a p:b=""/>',
  "<a:b:c/>",
  "< a/>",
  "<a>&b;</a>",
  "<a/ >",
  "<a/><b/>",
  " <?xml version='1.0'?><a/>",
  "<a><!-- -- --></a>",
  "\uFEFF\uFEFF<a/>",
])("rejects %j", (document) => {
  expect(() => read(document)).toThrow(XmlError);
  expect(() => read(document, true)).toThrow(XmlError);
});

test("throws nothing but XmlError, for any input", () => {
  const pieces = fc.constantFrom(
    "<",
    ">",
    "/",
    "a",
    "b:",
    "=",
    '"',
    "'",
    "&",
    ";",
    "#x41",
    " ",
    "<!--",
    "-->",
    "<?",
    "]]>",
    "xmlns",
    "\r\n",
  );
  const document = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(pieces, { maxLength: 30 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(document, fc.boolean(), (text, comments) => {
      try {
        read(text, comments);
      } catch (error) {
        expect(error).toBeInstanceOf(XmlError);
      }
    }),
    { numRuns: 2000 },
  );
});
