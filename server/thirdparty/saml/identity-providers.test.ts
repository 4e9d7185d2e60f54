import { describe, expect, test } from "vitest";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { providerKey, providerMetadata } from "../../testing/saml-identity-provider.ts";
import { providerNetwork } from "../provider-fetch.ts";
import { parseMetadata } from "./identity-provider-metadata.ts";
import {
  enabledSamlProviders,
  findByEntityId,
  loadProvider,
  settingsForDomain,
} from "./identity-providers.ts";

const key = providerKey();
const entityId = "https://idp.example.org/saml";
const metadata = providerMetadata(entityId, "https://idp.example.org/sso", [key.certificate]);
const metadata_url = "https://idp.example.org/metadata";
const tls = { plainHttp: false };

const runtime = await runtimeForTests();

/** Configures providers, whose requests over the network `answer` answers. */
function deployed(
  providers: object[],
  answer: (url: string) => Response | Promise<Response> = () => new Response(""),
) {
  const configured = runtime.configured({
    STILE_SAML_ENABLED: "true",
    STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify(providers),
  });
  const asked: string[] = [];
  providerNetwork(configured).fetch = async (input) => {
    asked.push(String(input));
    return answer(String(input));
  };
  const deployment = { runtime: configured, tenant: configured.tenant };
  const [settings] = enabledSamlProviders(configured.config);
  const load = (seconds = 0) => {
    if (!settings) throw new Error("no provider is enabled");
    return loadProvider(deployment, settings, new Date(1_700_000_000_000 + seconds * 1000));
  };
  return { deployment, asked, load, config: configured.config };
}

describe("metadata", () => {
  test("states the entity id, the sign-on address and the certificates of a provider", () => {
    const old = providerKey();
    const both = providerMetadata(entityId, "https://idp.example.org/sso?a=1&amp;b=2", [
      old.certificate,
      key.certificate,
    ]);
    expect(parseMetadata(both, tls)).toEqual({
      entityId,
      signOnUrl: "https://idp.example.org/sso?a=1&b=2",
      certificates: [old.certificate, key.certificate],
      logout: null,
      validUntil: null,
      wantsSignedRequests: false,
    });
  });

  test("states the addresses of single logout, if both are acceptable", () => {
    const there = "https://idp.example.org/slo";
    const logoutOf = (service: string) => {
      const document = providerMetadata(entityId, "https://idp.example.org/sso", [key.certificate]);
      return parseMetadata(document.replace("<md:SingleSignOn", `${service}<md:SingleSignOn`), tls).logout;
    };
    const service = (attributes: string, binding = "HTTP-Redirect") =>
      `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" ${attributes}/>`;
    expect(logoutOf(service(`Location="${there}"`))).toEqual({ requestUrl: there, responseUrl: there });
    expect(logoutOf(service(`Location="${there}" ResponseLocation="${there}/back"`))).toEqual({
      requestUrl: there,
      responseUrl: `${there}/back`,
    });
    expect(logoutOf(service(`Location="${there}"`, "HTTP-POST"))).toBeNull();
    expect(logoutOf(service('Location="http://idp.example.org/slo"'))).toBeNull();
    expect(logoutOf(service(`Location="${there}" ResponseLocation="javascript:alert(1)"`))).toBeNull();
  });

  test("may have comments, other bindings, and stand in a list of one", () => {
    const other = '<md:SingleSignOnService Binding="urn:other" Location="https://other.example/"/>';
    const dressed = `\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${metadata
      .replace("<md:SingleSignOnService", `${other}<!-- - --><md:SingleSignOnService`)
      .replace("entityID", 'validUntil="2026-01-01T00:00:00Z" entityID')}</md:EntitiesDescriptor>`;
    expect(parseMetadata(dressed, tls)).toMatchObject({
      entityId,
      signOnUrl: "https://idp.example.org/sso",
      validUntil: new Date("2026-01-01T00:00:00Z"),
    });
  });

  test.each([
    ["a document type", `<!DOCTYPE r [<!ENTITY x "y">]>${metadata}`, /other than elements/],
    ["a comment that does not end", metadata.replace("<ds:", "<!-- <ds:"), /other than elements/],
    ["another root", "<html/>", /exactly one identity provider/],
    [
      "no role of an identity provider",
      metadata.replaceAll("IDPSSODescriptor", "SPSSODescriptor"),
      /exactly one identity provider/,
    ],
    [
      "SAML 1.1 alone",
      metadata.replace("SAML:2.0:protocol", "SAML:1.1:protocol"),
      /exactly one identity provider/,
    ],
    ["no entity id", metadata.replace(`entityID="${entityId}"`, ""), /entityID/],
    ["an entity id that is too long", metadata.replace(entityId, `urn:${"x".repeat(500)}`), /entityID/],
    ["no redirect binding", metadata.replace("HTTP-Redirect", "HTTP-POST"), /HTTP-Redirect/],
    [
      "an address without TLS",
      metadata.replace("https://idp.example.org/sso", "http://idp.example.org/sso"),
      /https/,
    ],
    [
      "an address that is a script",
      metadata.replace("https://idp.example.org/sso", "javascript:alert(1)"),
      /https/,
    ],
    ["no signing key", metadata.replace('use="signing"', 'use="encryption"'), /signing certificate/],
    [
      "an invalid certificate",
      metadata.replace(/X509Certificate>[^<]+/, "X509Certificate>AAAA"),
      /signing certificate/,
    ],
    ["an invalid expiry", metadata.replace("entityID", 'validUntil="soon" entityID'), /validUntil/],
  ])("with %s is rejected", (_, document, reason) => {
    expect(() => parseMetadata(document, tls)).toThrow(reason);
  });

  test("of two providers in one list is rejected", () => {
    const list = `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${metadata}${metadata}</md:EntitiesDescriptor>`;
    expect(() => parseMetadata(list, tls)).toThrow(/exactly one/);
  });
});

describe("a provider", () => {
  test("is found by mail domain and by entity id, unless it is disabled", async () => {
    const second = providerMetadata("urn:second", "https://second.example/sso", [key.certificate]);
    const { deployment, config } = deployed([
      { name: "broken", domains: ["broken.example"], metadata: "<" },
      { name: "off", domains: ["off.example"], metadata, enabled: false },
      { name: "second", domains: ["second.example", "also.example"], metadata: second },
    ]);
    expect(settingsForDomain(config, "also.EXAMPLE")?.name).toBe("second");
    for (const domain of ["off.example", "sub.second.example", "example", ""])
      expect(settingsForDomain(config, domain)).toBeNull();
    expect((await findByEntityId(deployment, "urn:second", new Date()))?.settings.name).toBe("second");
    expect(await findByEntityId(deployment, entityId, new Date())).toBeNull();
    expect(enabledSamlProviders({ ...config, saml: { ...config.saml, enabled: false } })).toEqual([]);
  });

  test("A44 that claims the entity id of another is not found by it", async () => {
    const impostor = {
      name: "impostor",
      domains: ["impostor.example"],
      metadata_url: "https://impostor.example/metadata",
    };
    const honest = { name: "honest", domains: ["example.org"] };
    const stolen = providerMetadata(entityId, "https://impostor.example/sso", [providerKey().certificate]);
    const answer = (url: string) => new Response(url.startsWith("https://impostor.") ? stolen : metadata);
    const named = async (...providers: object[]) =>
      (await findByEntityId(deployed(providers, answer).deployment, entityId, new Date()))?.settings.name;
    expect(await named(impostor, { ...honest, metadata })).toBe("honest");
    expect(await named({ ...honest, metadata }, impostor)).toBe("honest");
    expect(await named(impostor, { ...honest, metadata_url })).toBeUndefined();
    expect(await named({ ...honest, metadata_url }, impostor)).toBeUndefined();
    expect(await named({ ...honest, metadata_url })).toBe("honest");
  });

  test("that does not answer is asked concurrently with the others", async () => {
    const far = (name: string) => ({
      name,
      domains: [`${name}.example`],
      metadata_url: `https://${name}.example`,
    });
    let open: (() => void) | undefined;
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { deployment, asked } = deployed([far("one"), far("two")], async () => {
      if (asked.length === 2) open?.();
      await both;
      return new Response("", { status: 503 });
    });
    expect(await findByEntityId(deployment, entityId, new Date())).toBeNull();
    expect(asked).toHaveLength(2);
  });

  test("is asked for its metadata once an hour", async () => {
    const { load, asked } = deployed(
      [{ name: "far", domains: ["a.example"], metadata_url }],
      () => new Response(metadata),
    );
    const [first, ...others] = await Promise.all([load(), load(), load()]);
    expect(first).toMatchObject({ entityId });
    expect(others).toEqual([first, first]);
    await load(3599);
    expect(asked).toEqual([metadata_url]);
    await load(3600);
    expect(asked).toHaveLength(2);
  });

  test("that stops answering is used for a day, with a retry every 30 seconds", async () => {
    let up = true;
    const { load, asked } = deployed([{ name: "far", domains: ["a.example"], metadata_url }], () =>
      up ? new Response(metadata) : new Response("", { status: 503 }),
    );
    await load();
    up = false;
    expect(await load(3600)).toMatchObject({ entityId });
    expect(await load(3629)).toMatchObject({ entityId });
    expect(asked).toHaveLength(2);
    expect(await load(3631)).toMatchObject({ entityId });
    expect(asked).toHaveLength(3);
    await expect(load(24 * 3600)).rejects.toThrow(ThirdPartyError);
    up = true;
    expect(await load(24 * 3600 + 31)).toMatchObject({ entityId });
  });

  test.each([
    ["answers HTML", () => new Response("<html>")],
    ["answers an error", () => new Response(metadata, { status: 500 })],
    ["redirects", () => Response.redirect("https://evil.example/", 302)],
    ["answers without end", () => new Response(`<a>${" ".repeat(600 * 1024)}`)],
    ["is unreachable", () => Promise.reject(new TypeError("fetch failed"))],
  ])("that %s cannot be used, and is not asked again at once", async (_, answer) => {
    const { load, asked } = deployed([{ name: "far", domains: ["a.example"], metadata_url }], answer);
    for (const seconds of [0, 10, 29])
      await expect(load(seconds)).rejects.toMatchObject({
        code: "server_error",
        reason: "metadata_unusable",
      });
    expect(asked).toHaveLength(1);
  });

  test("is asked over TLS only, except on loopback in development", async () => {
    const insecure = deployed(
      [{ name: "far", domains: ["a.example"], metadata_url: "http://idp.example.org/metadata" }],
      () => new Response(metadata),
    );
    await expect(insecure.load()).rejects.toMatchObject({ reason: "metadata_unusable" });
    expect(insecure.asked).toEqual([]);
    const near = deployed(
      [{ name: "near", domains: ["a.example"], metadata_url: "http://127.0.0.1:9/metadata" }],
      () => new Response(metadata),
    );
    expect(await near.load()).toMatchObject({ entityId });
  });

  test("whose metadata has expired cannot be used", async () => {
    const ended = metadata.replace("entityID", 'validUntil="2023-11-14T22:13:21Z" entityID');
    const { load } = deployed([{ name: "ended", domains: ["a.example"], metadata: ended }]);
    expect(await load()).toMatchObject({ entityId });
    await expect(load(1)).rejects.toMatchObject({ reason: "metadata_unusable" });
  });

  test("needs a domain of its own, metadata, and a valid attribute map", () => {
    const one = { name: "one", domains: ["a.example"], metadata };
    expect(() => deployed([one, { ...one, name: "two" }])).toThrow(/a mail domain twice/);
    expect(() => deployed([{ name: "one", domains: ["a.example"] }])).toThrow(
      /needs metadata or metadata_url/,
    );
    expect(() => deployed([{ ...one, attribute_map: { mail: "x" } }])).toThrow(/attribute_map/);
  });
});
