import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import { samlKey } from "./saml-keys.ts";
import { completeSamlSignIn } from "./sign-in.ts";

/** Attacks that modify a valid response. None may sign in, least of all as another user. */

const provider = samlIdentityProvider();
const sp = { consumerUrl: "http://localhost:3000/saml/callback", audience: "http://localhost:3000" };

const runtime = await runtimeForTests({
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    { name: "example", domains: ["example.org"], metadata: provider.metadata, allow_idp_initiated: true },
  ]),
});
const certificate = (await samlKey({ runtime, tenant: runtime.tenant }, "saml_encryption")).certificate;

/** Returns the reason for which a message is rejected. Fails if it is accepted. */
async function rejectionReason(xml: string | Buffer): Promise<string> {
  const samlResponse = Buffer.from(xml).toString("base64");
  try {
    const { facts } = await completeSamlSignIn(
      { runtime, tenant: runtime.tenant },
      { samlResponse, request: null },
      new Date(),
    );
    throw new Error(`${facts.subject} was signed in`);
  } catch (error) {
    if (!(error instanceof ThirdPartyError)) throw error;
    expect(error.code).toBe("invalid_request");
    return error.detail ?? error.reason;
  }
}

async function validResponse(about: Partial<Answer> = {}): Promise<string> {
  return Buffer.from(await provider.answer({ ...sp, ...about }), "base64").toString();
}

const part = (xml: string, name: string): string =>
  new RegExp(`<${name}[ >][\\s\\S]*</${name}>`).exec(xml)?.[0] ?? "";

/** Returns the parts of a response with a signed assertion. */
async function signedAssertion() {
  const xml = await validResponse();
  const assertion = part(xml, "saml:Assertion");
  const signature = part(assertion, "ds:Signature");
  const bare = assertion.replace(signature, "");
  const forged = bare.replace(">u-1<", ">admin<");
  const renamed = forged.replace(/ ID="[^"]*"/, ' ID="_evil"');
  return { xml, assertion, signature, bare, forged, renamed };
}

/** Returns the parts of a signed response. */
async function signedResponse() {
  const xml = await validResponse({ sign: "response" });
  const signature = part(xml, "ds:Signature");
  const bare = xml.replace(signature, "");
  const forged = bare.replace(">u-1<", ">admin<").replace(/ ID="[^"]*"/, ' ID="_evil"');
  return { signature, bare, forged };
}

const inside = (xml: string, name: string, added: string) => xml.replace(`</${name}>`, `${added}</${name}>`);

test("the unmodified response of the attacks is accepted", async () => {
  const { xml, bare, signature, assertion } = await signedAssertion();
  expect([signature, bare].every((each) => each.length > 100 && assertion.length > each.length)).toBe(true);
  const samlResponse = Buffer.from(xml).toString("base64");
  const { facts } = await completeSamlSignIn(
    { runtime, tenant: runtime.tenant },
    { samlResponse, request: null },
    new Date(),
  );
  expect(facts.subject).toBe("u-1");
});

describe("A50–A57 rejects signature wrapping", () => {
  test("XSW1 the signed response within the signature of a forged one", async () => {
    const { signature, bare, forged } = await signedResponse();
    const wrapping = inside(signature, "ds:Signature", bare);
    const xml = forged.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await rejectionReason(xml)).toBe("ds:Signature contains an element that is not allowed");
  });

  test("XSW2 the signed response beside its signature, in a forged one", async () => {
    const { signature, bare, forged } = await signedResponse();
    const xml = forged.replace("</saml:Issuer>", `</saml:Issuer>${bare}${signature}`);
    expect(await rejectionReason(xml)).toBe("samlp:Response contains an element that is not allowed");
  });

  test("XSW3 a forged assertion before the signed one", async () => {
    const { xml, assertion, forged, renamed } = await signedAssertion();
    for (const each of [forged, renamed])
      expect(await rejectionReason(xml.replace(assertion, each + assertion))).toBe(
        "samlp:Response contains saml:Assertion 2 times",
      );
  });

  test("XSW4 the signed assertion within a forged one", async () => {
    const { xml, assertion, forged, renamed } = await signedAssertion();
    for (const each of [forged, renamed])
      expect(await rejectionReason(xml.replace(assertion, inside(each, "saml:Assertion", assertion)))).toBe(
        "saml:Assertion contains an element that is not allowed",
      );
  });

  test("XSW5 the signature in a forged assertion, the signed one after it", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${signature}`);
    expect(await rejectionReason(xml.replace(assertion, signed + bare))).toBe(
      "samlp:Response contains saml:Assertion 2 times",
    );
    expect(await rejectionReason(xml.replace(assertion, signed))).toMatch(
      /does not refer to its parent element/,
    );
  });

  test("XSW6 the signature in a forged assertion, the signed one within the signature", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", bare);
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await rejectionReason(xml.replace(assertion, signed))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });

  test("XSW7 a forged assertion in extensions", async () => {
    const { xml, forged, renamed } = await signedAssertion();
    for (const each of [forged, renamed]) {
      const extensions = `<samlp:Extensions>${each}</samlp:Extensions>`;
      expect(await rejectionReason(xml.replace("<samlp:Status>", `${extensions}<samlp:Status>`))).toBe(
        "samlp:Response contains an element that is not allowed",
      );
    }
  });

  test("XSW8 the signed assertion in an object of the signature of a forged one", async () => {
    const { xml, assertion, signature, bare, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", `<ds:Object>${bare}</ds:Object>`);
    const signed = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    expect(await rejectionReason(xml.replace(assertion, signed))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });

  test("XSW8 in an encrypted assertion", async () => {
    const { bare, signature, renamed } = await signedAssertion();
    const wrapping = inside(signature, "ds:Signature", `<ds:Object>${bare}</ds:Object>`);
    const forged = renamed.replace("</saml:Issuer>", `</saml:Issuer>${wrapping}`);
    const edit = (xml: string) => xml.replace(part(xml, "saml:Assertion"), forged);
    expect(await rejectionReason(await validResponse({ sign: "none", encryptFor: certificate, edit }))).toBe(
      "ds:Signature contains an element that is not allowed",
    );
  });
});

describe("A58 rejects a message", () => {
  test("whose subject was changed after it was signed", async () => {
    expect(
      await rejectionReason(await validResponse({ tamper: (xml) => xml.replace(">u-1<", ">admin<") })),
    ).toBe("signature");
  });

  test("with two roots, or content after the root", async () => {
    const xml = await validResponse();
    for (const more of [xml, "<a/>", "x", "</a>"])
      expect(await rejectionReason(xml + more)).toMatch(/after the root element/);
  });

  test("with two assertions, or none", async () => {
    const xml = await validResponse();
    const assertion = part(xml, "saml:Assertion");
    expect(await rejectionReason(xml.replace(assertion, assertion + assertion))).toMatch(
      /saml:Assertion 2 times/,
    );
    expect(await rejectionReason(xml.replace(assertion, ""))).toBe("there is not exactly one assertion");
    const encrypted = part(await validResponse({ encryptFor: certificate }), "saml:EncryptedAssertion");
    expect(await rejectionReason(xml.replace(assertion, assertion + encrypted))).toBe(
      "there is not exactly one assertion",
    );
  });

  test("with a signature of another element, of the whole document, or of nothing", async () => {
    const { xml } = await signedAssertion();
    const response = / ID="([^"]*)"/.exec(xml)?.[1];
    for (const uri of [`#${response}`, "", "#", "#xpointer(/)", "file:///etc/passwd", "http://127.0.0.1/"])
      expect(await rejectionReason(xml.replace(/URI="[^"]*"/, `URI="${uri}"`))).toMatch(
        /does not refer to its parent element/,
      );
    expect(await rejectionReason(xml.replace(/ URI="[^"]*"/, ""))).toMatch(
      /does not refer to its parent element/,
    );
  });

  test("with a duplicate identifier, in any spelling", async () => {
    const { xml, assertion } = await signedAssertion();
    const id = / ID="([^"]*)"/.exec(assertion)?.[1];
    for (const name of ["ID", "Id", "id"])
      expect(await rejectionReason(xml.replace("<samlp:Status>", `<samlp:Status ${name}="${id}">`))).toBe(
        "two elements have the same identifier",
      );
    for (const name of ["samlp:ID", "xml:id"])
      expect(await rejectionReason(xml.replace("<samlp:Status>", `<samlp:Status ${name}="${id}">`))).toBe(
        "samlp:Status has an invalid identifier",
      );
  });

  test.each([
    ["a name identifier", { nameId: "admin<!-- -->@example.org" }],
    ["an attribute", { attributes: { mail: "admin@example.org<!---->.evil.example" } }],
    ["the issuer", { issuer: `https://idp.example.org<!---->/saml` }],
  ])("with a comment in %s, although it is signed", async (_, about) => {
    expect(await rejectionReason(await validResponse(about))).toMatch(/other than elements and text/);
    expect(await rejectionReason(await validResponse({ ...about, encryptFor: certificate }))).toMatch(
      /other than elements/,
    );
  });

  test("with a comment, another element or nothing in the digest", async () => {
    const xml = await validResponse();
    const digest = /<ds:DigestValue>([^<]*)</.exec(xml)?.[1] ?? "";
    const rejectionWithDigest = (content: string) =>
      rejectionReason(xml.replace(`>${digest}<`, `>${content}<`));
    expect(await rejectionWithDigest(`<!--AAAA-->${digest}`)).toMatch(/other than elements and text/);
    expect(await rejectionWithDigest(`<ds:KeyName>AAAA</ds:KeyName>${digest}`)).toMatch(
      /that is not allowed/,
    );
    expect(await rejectionWithDigest("")).toBe("a digest is invalid");
  });

  test("with several references, digests, signed infos or signatures", async () => {
    const { xml } = await signedAssertion();
    const twice = (name: string) => {
      const element = part(xml, name);
      return rejectionReason(xml.replace(element, element + element));
    };
    expect(await twice("ds:Reference")).toBe("ds:SignedInfo contains ds:Reference 2 times");
    expect(await twice("ds:DigestValue")).toBe("ds:Reference contains ds:DigestValue 2 times");
    expect(await twice("ds:SignedInfo")).toBe("ds:Signature contains ds:SignedInfo 2 times");
    expect(await twice("ds:Signature")).toBe("saml:Assertion contains ds:Signature 2 times");
    const info = part(xml, "ds:SignedInfo");
    const hidden = inside(xml, "ds:KeyInfo", info);
    expect(await rejectionReason(hidden)).toMatch(/that is not allowed/);
  });

  test("without a canonical form that is accepted", async () => {
    const xml = await validResponse();
    const declare = (declaration: string) =>
      rejectionReason(xml.replace("<saml:Assertion ", `<saml:Assertion ${declaration} `));
    expect(await declare('xmlns:ns="1"')).toBe("a namespace declaration is invalid");
    expect(await declare('xmlns:ns=""')).toBe("a namespace declaration is invalid");
    expect(await declare('xmlns:xmlns="urn:x"')).toBe("a namespace declaration is invalid");
    expect(await rejectionReason(xml.replace("<saml:Subject>", '<saml:Subject xmlns:saml="urn:x">'))).toMatch(
      /that is not allowed/,
    );
    const none = xml.replace(/(<ds:CanonicalizationMethod Algorithm=)"[^"]*"/, '$1"urn:none"');
    expect(await rejectionReason(none)).toMatch(/algorithm that is not accepted/);
  });

  test("with transforms other than the two of SAML", async () => {
    const xslt = '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>';
    const xml = await validResponse();
    expect(await rejectionReason(xml.replace("<ds:Transforms>", `<ds:Transforms>${xslt}`))).toMatch(
      /transforms that/,
    );
    const [first] = /<ds:Transform [^>]*\/>/.exec(xml) ?? [""];
    expect(await rejectionReason(xml.replace("<ds:Transforms>", `<ds:Transforms>${first}`))).toBe(
      "a signature has transforms that are not accepted",
    );
    expect(await rejectionReason(xml.replace(first, ""))).toBe(
      "a signature has transforms that are not accepted",
    );
  });

  test("with names that only resemble those of SAML", async () => {
    const xml = await validResponse();
    const other = xml.replace(/urn:oasis:names:tc:SAML:2.0:protocol/, "urn:oasis:names:tc:SAML:1.0:protocol");
    expect(await rejectionReason(other)).toBe("the root element is not a response");
    expect(await rejectionReason(xml.replaceAll("saml:Assertion", "saml:Аssertion"))).toMatch(
      /not well-formed/,
    );
  });
});

describe("A61 rejects a message", () => {
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
    ["an external document type", (at) => `SYSTEM "${at}"`],
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
    const xml = (await validResponse()).replace(">u-1<", ">&x;&a8;<");
    expect(await rejectionReason(before(xml, declaration(url)))).toMatch(/other than elements and text/);
    // The encryption key is public, so decrypted content is validated in the same way.
    const edit = (plain: string) =>
      plain.replace(/(<saml:Assertion [^>]*>)/, `$1<!DOCTYPE r ${declaration(url)}>`);
    expect(
      await rejectionReason(await validResponse({ sign: "none", encryptFor: certificate, edit })),
    ).toMatch(/other than elements and text/);
    expect(hits).toBe(0);
  });

  test("with undeclared entities, or invalid characters", async () => {
    for (const text of ["&x;", "&nbsp;", "&", "&#0;", "&#x1F;", "&#xD800;", "&#x110000;", "&#99999999;"])
      expect(await rejectionReason((await validResponse()).replace(">u-1<", `>${text}<`))).toMatch(
        /entity|characters/,
      );
    for (const text of ["\0", "\u0008", "\uFFFE"])
      expect(await rejectionReason((await validResponse()).replace(">u-1<", `>${text}<`))).toMatch(
        /characters/,
      );
  });

  test.each([
    ["CDATA", "<![CDATA[admin]]>"],
    ["a processing instruction", '<?xml-stylesheet href="x"?>'],
    ["a comment", "<!-- -->"],
    ["an inclusion", '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'],
  ])("with %s", async (_, added) => {
    const reason = await rejectionReason(
      (await validResponse()).replace("<samlp:Status>", `${added}<samlp:Status>`),
    );
    expect(reason).toMatch(/other than elements and text|that is not allowed/);
  });

  test("that exceeds a limit of size, depth or count", async () => {
    const xml = await validResponse();
    const long = (count: number) => xml.replace("<samlp:Status>", `<samlp:Status a="${"x".repeat(count)}">`);
    expect(await rejectionReason(long(262_144))).toBe("the document is too large");
    const deep = "<a>".repeat(100) + "</a>".repeat(100);
    expect(await rejectionReason(xml.replace("<samlp:Status>", `${deep}<samlp:Status>`))).toBe(
      "the document is nested too deeply",
    );
    expect(await rejectionReason("<a>".repeat(40_000))).toBe("the document is nested too deeply");
    expect(await rejectionReason(`<a>${"<b/>".repeat(20_000)}</a>`)).toBe("there are too many elements");
    // The library would take long to find that no known key signed this.
    const x = Array.from({ length: 2000 }, (_, n) => `${n}`);
    expect(await rejectionReason(await validResponse({ attributes: { x } }))).toBe(
      "there are too many elements",
    );
    const attributes = Array.from({ length: 100 }, (_, n) => ` a${n}=""`).join("");
    expect(await rejectionReason(`<a${attributes}/>`)).toMatch(/too many/);
    const scopes = (n: number) => Array.from({ length: 60 }, (_, m) => ` xmlns:a${n}_${m}="urn:x"`).join("");
    expect(await rejectionReason(`<a${scopes(1)}><a${scopes(2)}/></a>`)).toBe(
      "there are too many namespaces",
    );
  });

  test.each([
    ["not base64", "<xml/>"],
    ["truncated", "PHNhbWw"],
    ["only padding", "===="],
  ])("that is %s", async (_, samlResponse) => {
    const outcome = completeSamlSignIn(
      { runtime, tenant: runtime.tenant },
      { samlResponse, request: null },
      new Date(),
    );
    await expect(outcome).rejects.toMatchObject({
      code: "invalid_request",
      reason: "answer_malformed",
      detail: "the document is not base64",
    });
  });

  test("that is not UTF-8, or declares another encoding", async () => {
    const xml = await validResponse();
    expect(await rejectionReason(Buffer.from(xml.replace(">u-1<", ">\u00e4<"), "latin1"))).toBe(
      "the document is not UTF-8",
    );
    expect(await rejectionReason(Buffer.from(xml, "utf16le"))).toMatch(/UTF-8|characters/);
    expect(await rejectionReason(`<?xml version="1.0" encoding="ISO-8859-1"?>${xml}`)).toMatch(
      /other than elements/,
    );
    expect(await rejectionReason(`<?xml version="1.1"?>${xml}`)).toMatch(/other than elements/);
  });
});

test("cut, duplicated or moved parts of a valid response never sign in another user", async () => {
  const answers = [
    await validResponse(),
    await validResponse({ sign: "response" }),
    await validResponse({ sign: "both" }),
  ];
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const change = fc.record({
    answer: fc.constantFrom(...answers),
    from: place,
    length: fc.constantFrom(1, 5, 40, 400),
    to: place,
    replacement: fc.constantFrom("", "admin", "<!---->", "<saml:NameID>admin</saml:NameID>", "&lt;", " "),
    tags: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ answer, from, length, to, replacement, tags }) => {
      // Cuts at tags leave most documents well-formed.
      const units = tags ? answer.split(/(?=<)/) : [...answer];
      const start = Math.floor(from * units.length);
      const moved = units.slice(start, start + length);
      const rest = replacement === " " ? units : units.toSpliced(start, length);
      const target = Math.floor(to * rest.length);
      const xml = rest.toSpliced(target, 0, replacement, ...moved).join("");
      const samlResponse = Buffer.from(xml).toString("base64");
      try {
        const { facts } = await completeSamlSignIn(
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
