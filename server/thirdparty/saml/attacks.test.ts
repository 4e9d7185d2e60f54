import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import { ThirdPartyError } from "../third-party-error.ts";
import { samlKey } from "./saml-keys.ts";
import { completeSamlSignIn } from "./sign-in.ts";

/** What attackers make of a genuine answer. Whatever they try, nobody is let in, least of all somebody else. */

const provider = samlIdentityProvider();
const sp = { consumerUrl: "http://localhost:3000/saml/callback", audience: "http://localhost:3000" };

let runtime: TestRuntime;
let certificate: string;

beforeAll(async () => {
  runtime = await testRuntime({
    STILE_SAML_ENABLED: "true",
    STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
      { name: "example", domains: ["example.org"], metadata: provider.metadata, allow_idp_initiated: true },
    ]),
  });
  certificate = (await samlKey({ runtime, tenant: runtime.tenant }, "saml_encryption")).certificate;
});

afterAll(() => runtime.close());

/** Why a message is refused. Fails when it is taken. */
async function refusal(xml: string | Buffer): Promise<string> {
  const samlResponse = Buffer.from(xml).toString("base64");
  try {
    const facts = await completeSamlSignIn(
      { runtime, tenant: runtime.tenant },
      { samlResponse, request: null },
      new Date(),
    );
    throw new Error(`${facts.subject} was let in`);
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    expect(error.code).toBe("invalid_request");
    return error.reason;
  }
}

async function genuine(about: Partial<Answer> = {}): Promise<string> {
  return Buffer.from(await provider.answer({ ...sp, ...about }), "base64").toString();
}

const part = (xml: string, name: string): string =>
  new RegExp(`<${name}[ >][\\s\\S]*</${name}>`).exec(xml)?.[0] ?? "";

/** The parts of an answer whose assertion is signed. */
async function signedAssertion() {
  const xml = await genuine();
  const assertion = part(xml, "saml:Assertion");
  const signature = part(assertion, "ds:Signature");
  const bare = assertion.replace(signature, "");
  const evil = bare.replace(">u-1<", ">admin<");
  const renamed = evil.replace(/ ID="[^"]*"/, ' ID="_evil"');
  return { xml, assertion, signature, bare, evil, renamed };
}

/** The parts of an answer that is signed as a whole. */
async function signedResponse() {
  const xml = await genuine({ sign: "response" });
  const signature = part(xml, "ds:Signature");
  const bare = xml.replace(signature, "");
  const evil = bare.replace(">u-1<", ">admin<").replace(/ ID="[^"]*"/, ' ID="_evil"');
  return { signature, bare, evil };
}

const inside = (xml: string, name: string, added: string) => xml.replace(`</${name}>`, `${added}</${name}>`);

test("what the attacks are made of is taken as it stands", async () => {
  const { xml, bare, signature, assertion } = await signedAssertion();
  expect([signature, bare].every((each) => each.length > 100 && assertion.length > each.length)).toBe(true);
  const samlResponse = Buffer.from(xml).toString("base64");
  const facts = await completeSamlSignIn(
    { runtime, tenant: runtime.tenant },
    { samlResponse, request: null },
    new Date(),
  );
  expect(facts.subject).toBe("u-1");
});

describe("A50–A57 signature wrapping is refused", () => {
  test("XSW1 the signed response within the signature of an evil one", async () => {
    const { signature, bare, evil } = await signedResponse();
    const wrapping = inside(signature, "ds:Signature", bare);
    const xml = evil.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await refusal(xml)).toBe("ds:Signature contains an element that is not allowed");
  });

  test("XSW2 the signed response beside its signature, in an evil one", async () => {
    const { signature, bare, evil } = await signedResponse();
    const xml = evil.replace("</saml:Issuer>", `</saml:Issuer>${bare}${signature}`);
    expect(await refusal(xml)).toBe("samlp:Response contains an element that is not allowed");
  });

  test("XSW3 an evil assertion before the signed one", async () => {
    const { xml, assertion, evil, renamed } = await signedAssertion();
    for (const each of [evil, renamed])
      expect(await refusal(xml.replace(assertion, each + assertion))).toBe(
        "samlp:Response contains saml:Assertion 2 times",
      );
  });

  test("XSW4 the signed assertion within an evil one", async () => {
    const { xml, assertion, evil, renamed } = await signedAssertion();
    for (const each of [evil, renamed])
      expect(await refusal(xml.replace(assertion, inside(each, "saml:Assertion", assertion)))).toBe(
        "saml:Assertion contains an element that is not allowed",
      );
  });

  test("XSW5 the signature in an evil assertion, what it signs behind it", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${signature}`);
    expect(await refusal(xml.replace(assertion, signed + bare))).toBe(
      "samlp:Response contains saml:Assertion 2 times",
    );
    expect(await refusal(xml.replace(assertion, signed))).toMatch(/does not refer to its parent element/);
  });

  test("XSW6 the signature in an evil assertion, what it signs within the signature", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", bare);
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await refusal(xml.replace(assertion, signed))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });

  test("XSW7 an evil assertion in extensions", async () => {
    const { xml, evil, renamed } = await signedAssertion();
    for (const each of [evil, renamed]) {
      const extensions = `<samlp:Extensions>${each}</samlp:Extensions>`;
      expect(await refusal(xml.replace("<samlp:Status>", `${extensions}<samlp:Status>`))).toBe(
        "samlp:Response contains an element that is not allowed",
      );
    }
  });

  test("XSW8 the signed assertion in an object of the signature of an evil one", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", `<ds:Object>${bare}</ds:Object>`);
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await refusal(xml.replace(assertion, signed))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });

  test("all of them again, hidden in an encrypted assertion", async () => {
    const { bare, signature, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", `<ds:Object>${bare}</ds:Object>`);
    const evil = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    const edit = (xml: string) => xml.replace(part(xml, "saml:Assertion"), evil);
    expect(await refusal(await genuine({ sign: "none", encryptFor: certificate, edit }))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });
});

describe("A58 a message is refused", () => {
  test("with something else changed after it was signed", async () => {
    expect(await refusal(await genuine({ tamper: (xml) => xml.replace(">u-1<", ">admin<") }))).toBe(
      "signature",
    );
  });

  test("with two roots, or something behind the root", async () => {
    const xml = await genuine();
    for (const more of [xml, "<a/>", "x", "</a>"])
      expect(await refusal(xml + more)).toMatch(/after the root element/);
  });

  test("with two assertions, or none", async () => {
    const xml = await genuine();
    const assertion = part(xml, "saml:Assertion");
    expect(await refusal(xml.replace(assertion, assertion + assertion))).toMatch(/saml:Assertion 2 times/);
    expect(await refusal(xml.replace(assertion, ""))).toBe("there is not exactly one assertion");
    const encrypted = part(await genuine({ encryptFor: certificate }), "saml:EncryptedAssertion");
    expect(await refusal(xml.replace(assertion, assertion + encrypted))).toBe(
      "there is not exactly one assertion",
    );
  });

  test("with a signature of another element, of the whole document, or of nothing", async () => {
    const { xml } = await signedAssertion();
    const response = / ID="([^"]*)"/.exec(xml)?.[1];
    for (const uri of [`#${response}`, "", "#", "#xpointer(/)", "file:///etc/passwd", "http://127.0.0.1/"])
      expect(await refusal(xml.replace(/URI="[^"]*"/, `URI="${uri}"`))).toMatch(
        /does not refer to its parent element/,
      );
    expect(await refusal(xml.replace(/ URI="[^"]*"/, ""))).toMatch(/does not refer to its parent element/);
  });

  test("with one identifier twice, however it is spelt", async () => {
    const { xml, assertion } = await signedAssertion();
    const id = / ID="([^"]*)"/.exec(assertion)?.[1];
    for (const name of ["ID", "Id", "id"])
      expect(await refusal(xml.replace("<samlp:Status>", `<samlp:Status ${name}="${id}">`))).toBe(
        "two elements have the same identifier",
      );
    for (const name of ["samlp:ID", "xml:id"])
      expect(await refusal(xml.replace("<samlp:Status>", `<samlp:Status ${name}="${id}">`))).toBe(
        "samlp:Status has an invalid identifier",
      );
  });

  test.each([
    ["a name identifier", { nameId: "admin<!-- -->@example.org" }],
    ["an attribute", { attributes: { mail: "admin@example.org<!---->.evil.example" } }],
    ["the issuer", { issuer: `https://idp.example.org<!---->/saml` }],
  ])("with a comment in %s, though it is signed", async (_, about) => {
    expect(await refusal(await genuine(about))).toMatch(/other than elements and text/);
    expect(await refusal(await genuine({ ...about, encryptFor: certificate }))).toMatch(
      /other than elements/,
    );
  });

  test("with a comment, another element or nothing in the digest", async () => {
    const xml = await genuine();
    const digest = /<ds:DigestValue>([^<]*)</.exec(xml)?.[1] ?? "";
    const with_ = (content: string) => refusal(xml.replace(`>${digest}<`, `>${content}<`));
    expect(await with_(`<!--AAAA-->${digest}`)).toMatch(/other than elements and text/);
    expect(await with_(`<ds:KeyName>AAAA</ds:KeyName>${digest}`)).toMatch(/that is not allowed/);
    expect(await with_("")).toBe("a digest is invalid");
  });

  test("with several references, digests, or parts that are signed", async () => {
    const { xml } = await signedAssertion();
    const twice = (name: string) => {
      const element = part(xml, name);
      return refusal(xml.replace(element, element + element));
    };
    expect(await twice("ds:Reference")).toBe("ds:SignedInfo contains ds:Reference 2 times");
    expect(await twice("ds:DigestValue")).toBe("ds:Reference contains ds:DigestValue 2 times");
    expect(await twice("ds:SignedInfo")).toBe("ds:Signature contains ds:SignedInfo 2 times");
    expect(await twice("ds:Signature")).toBe("saml:Assertion contains ds:Signature 2 times");
    const info = part(xml, "ds:SignedInfo");
    const hidden = inside(xml, "ds:KeyInfo", info);
    expect(await refusal(hidden)).toMatch(/that is not allowed/);
  });

  test("with something that has no canonical form, or an empty one", async () => {
    const xml = await genuine();
    const declare = (declaration: string) =>
      refusal(xml.replace("<saml:Assertion ", `<saml:Assertion ${declaration} `));
    expect(await declare('xmlns:ns="1"')).toBe("a namespace declaration is invalid");
    expect(await declare('xmlns:ns=""')).toBe("a namespace declaration is invalid");
    expect(await declare('xmlns:xmlns="urn:x"')).toBe("a namespace declaration is invalid");
    expect(await refusal(xml.replace("<saml:Subject>", '<saml:Subject xmlns:saml="urn:x">'))).toMatch(
      /that is not allowed/,
    );
    const none = xml.replace(/(<ds:CanonicalizationMethod Algorithm=)"[^"]*"/, '$1"urn:none"');
    expect(await refusal(none)).toMatch(/algorithm that is not accepted/);
  });

  test("with transforms beside the two that SAML knows", async () => {
    const xslt = '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>';
    const xml = await genuine();
    expect(await refusal(xml.replace("<ds:Transforms>", `<ds:Transforms>${xslt}`))).toMatch(
      /transforms that/,
    );
    const [first] = /<ds:Transform [^>]*\/>/.exec(xml) ?? [""];
    expect(await refusal(xml.replace("<ds:Transforms>", `<ds:Transforms>${first}`))).toBe(
      "a signature has transforms that are not accepted",
    );
    expect(await refusal(xml.replace(first, ""))).toBe("a signature has transforms that are not accepted");
  });

  test("by names that only look like those of SAML", async () => {
    const xml = await genuine();
    const other = xml.replace(/urn:oasis:names:tc:SAML:2.0:protocol/, "urn:oasis:names:tc:SAML:1.0:protocol");
    expect(await refusal(other)).toBe("the root element is not a response");
    expect(await refusal(xml.replaceAll("saml:Assertion", "saml:Аssertion"))).toMatch(/not well-formed/);
  });
});

describe("A61 a message is refused", () => {
  let hits = 0;
  const server = createServer((_, response) => {
    hits += 1;
    response.end("x");
  });
  let url = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  });

  afterAll(() => server.close());

  const before = (xml: string, declarations: string) => `<!DOCTYPE r ${declarations}>${xml}`;
  const declarations: [string, (url: string) => string][] = [
    ["a document type", () => ""],
    ["a document type elsewhere", (at) => `SYSTEM "${at}"`],
    ["an entity of a file", () => '[<!ENTITY x SYSTEM "file:///etc/passwd">]'],
    ["an entity of the network", (at) => `[<!ENTITY x SYSTEM "${at}">]`],
    ["a parameter entity", (at) => `[<!ENTITY % x SYSTEM "${at}">%x;]`],
    [
      "a billion laughs",
      () =>
        `[<!ENTITY a "ha">${Array.from({ length: 9 }, (_, n) => `<!ENTITY a${n} "${`&a${n ? n - 1 : ""};`.repeat(10)}">`).join("")}]`,
    ],
  ];

  test.each(declarations)("with %s", async (_, declaration) => {
    const xml = (await genuine()).replace(">u-1<", ">&x;&a8;<");
    expect(await refusal(before(xml, declaration(url)))).toMatch(/other than elements and text/);
    // Anybody can encrypt for us: what is inside is looked at in the same way.
    const edit = (plain: string) =>
      plain.replace(/(<saml:Assertion [^>]*>)/, `$1<!DOCTYPE r ${declaration(url)}>`);
    expect(await refusal(await genuine({ sign: "none", encryptFor: certificate, edit }))).toMatch(
      /other than elements and text/,
    );
    expect(hits).toBe(0);
  });

  test("with entities that nobody declared, and characters that are none", async () => {
    for (const text of ["&x;", "&nbsp;", "&", "&#0;", "&#x1F;", "&#xD800;", "&#x110000;", "&#99999999;"])
      expect(await refusal((await genuine()).replace(">u-1<", `>${text}<`))).toMatch(/entity|characters/);
    for (const text of ["\0", "\u0008", "\uFFFE"])
      expect(await refusal((await genuine()).replace(">u-1<", `>${text}<`))).toMatch(/characters/);
  });

  test.each([
    ["CDATA", "<![CDATA[admin]]>"],
    ["a processing instruction", '<?xml-stylesheet href="x"?>'],
    ["a comment", "<!-- -->"],
    ["an inclusion", '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'],
  ])("with %s", async (_, added) => {
    const reason = await refusal((await genuine()).replace("<samlp:Status>", `${added}<samlp:Status>`));
    expect(reason).toMatch(/other than elements and text|that is not allowed/);
  });

  test("that is too large, too deep, or too much", async () => {
    const xml = await genuine();
    const long = (count: number) => xml.replace("<samlp:Status>", `<samlp:Status a="${"x".repeat(count)}">`);
    expect(await refusal(long(262_144))).toBe("the document is too large");
    const deep = "<a>".repeat(100) + "</a>".repeat(100);
    expect(await refusal(xml.replace("<samlp:Status>", `${deep}<samlp:Status>`))).toBe(
      "the document is nested too deeply",
    );
    expect(await refusal("<a>".repeat(40_000))).toBe("the document is nested too deeply");
    expect(await refusal(`<a>${"<b/>".repeat(20_000)}</a>`)).toBe("there are too many elements");
    // The library would take long to find out that nobody it knows has signed this.
    const x = Array.from({ length: 2000 }, (_, n) => `${n}`);
    expect(await refusal(await genuine({ attributes: { x } }))).toBe("there are too many elements");
    const attributes = Array.from({ length: 100 }, (_, n) => ` a${n}=""`).join("");
    expect(await refusal(`<a${attributes}/>`)).toMatch(/too many/);
    const scopes = (n: number) => Array.from({ length: 60 }, (_, m) => ` xmlns:a${n}_${m}="urn:x"`).join("");
    expect(await refusal(`<a${scopes(1)}><a${scopes(2)}/></a>`)).toBe("there are too many namespaces");
  });

  test.each([
    ["no base64", "<xml/>"],
    ["cut short", "PHNhbWw"],
    ["empty inside", "===="],
  ])("that is %s", async (_, samlResponse) => {
    const outcome = completeSamlSignIn(
      { runtime, tenant: runtime.tenant },
      { samlResponse, request: null },
      new Date(),
    );
    await expect(outcome).rejects.toMatchObject({
      code: "invalid_request",
      reason: "the document is not base64",
    });
  });

  test("that is no UTF-8, or claims to be something else", async () => {
    const xml = await genuine();
    expect(await refusal(Buffer.from(xml.replace(">u-1<", ">\u00e4<"), "latin1"))).toBe(
      "the document is not UTF-8",
    );
    expect(await refusal(Buffer.from(xml, "utf16le"))).toMatch(/UTF-8|characters/);
    expect(await refusal(`<?xml version="1.0" encoding="ISO-8859-1"?>${xml}`)).toMatch(/other than elements/);
    expect(await refusal(`<?xml version="1.1"?>${xml}`)).toMatch(/other than elements/);
  });
});

test("whatever is cut, doubled or moved in a genuine answer, nobody else is let in", async () => {
  const answers = [await genuine(), await genuine({ sign: "response" }), await genuine({ sign: "both" })];
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const change = fc.record({
    answer: fc.constantFrom(...answers),
    from: place,
    length: fc.constantFrom(1, 5, 40, 400),
    to: place,
    with_: fc.constantFrom("", "admin", "<!---->", "<saml:NameID>admin</saml:NameID>", "&lt;", " "),
    tags: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ answer, from, length, to, with_, tags }) => {
      // Along tags, most of what comes out is well-formed.
      const units = tags ? answer.split(/(?=<)/) : [...answer];
      const start = Math.floor(from * units.length);
      const moved = units.slice(start, start + length);
      const rest = with_ === " " ? units : units.toSpliced(start, length);
      const target = Math.floor(to * rest.length);
      const xml = rest.toSpliced(target, 0, with_, ...moved).join("");
      const samlResponse = Buffer.from(xml).toString("base64");
      try {
        const facts = await completeSamlSignIn(
          { runtime, tenant: runtime.tenant },
          { samlResponse, request: null },
          new Date(),
        );
        expect(facts).toMatchObject({ provider: `saml:${provider.entityId}`, subject: "u-1", email: null });
      } catch (error) {
        if (!(error instanceof ThirdPartyError)) throw error;
        expect(error.code).not.toBe("server_error");
      }
    }),
    { numRuns: 400 },
  );
});
