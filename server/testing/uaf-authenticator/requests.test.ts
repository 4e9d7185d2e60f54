import { describe, expect, test } from "vitest";
import { appId, type Change, facetId, opened, requestOf, upv } from "../uaf-messages.ts";
import { createUafAuthenticator } from "./authenticator.ts";
import type { clientErrors } from "./requests.ts";

describe("a client rejects", () => {
  const authenticator = createUafAuthenticator();
  const [criterion] = [{ aaid: ["006F#0001"] }];
  const policy = (...accepted: object[][]) => ({ policy: { accepted } }) as Change;

  test.each<[string, keyof typeof clientErrors, string]>([
    ["invalid JSON", "protocolError", "["],
    ["a message that is not in an array", "protocolError", "{}"],
    [
      "two messages of one version",
      "protocolError",
      `[${requestOf("Reg").slice(1, -1).repeat(2).replace("}{", "},{")}]`,
    ],
    ["another operation", "protocolError", requestOf("Auth")],
    ["version 2.0", "unsupportedVersion", requestOf("Reg", { header: { upv: { major: 2, minor: 0 } } })],
    [
      "an appID of 513 characters",
      "protocolError",
      requestOf("Reg", { header: { appID: `https://${"x".repeat(505)}` } }),
    ],
    ["empty serverData", "protocolError", requestOf("Reg", { header: { serverData: "" } })],
    [
      "an appID that is not https",
      "insecureTransport",
      requestOf("Reg", { header: { appID: "http://login.example" } }),
    ],
    ["a challenge of 7 bytes", "protocolError", requestOf("Reg", { challenge: "AAAAAAAAAA" })],
    ["a challenge of 65 bytes", "protocolError", requestOf("Reg", { challenge: "A".repeat(87) })],
    ["a username of 129 characters", "protocolError", requestOf("Reg", { username: "x".repeat(129) })],
    ["an empty policy", "protocolError", requestOf("Reg", policy())],
    ["another model", "noSuitableAuthenticator", requestOf("Reg", policy([{ aaid: ["FFFF#0001"] }]))],
    [
      "two models in one list",
      "noSuitableAuthenticator",
      requestOf("Reg", policy([{ aaid: ["006F#0001", "FFFF#0001"] }])),
    ],
    [
      "two criteria at once",
      "noSuitableAuthenticator",
      requestOf("Reg", policy([criterion, criterion].flat())),
    ],
    [
      "a criterion without model and algorithm",
      "noSuitableAuthenticator",
      requestOf("Reg", policy([{ userVerification: 2 }])),
    ],
    [
      "a disallowed model",
      "noSuitableAuthenticator",
      requestOf("Reg", { policy: { accepted: [[criterion]], disallowed: [criterion] } } as Change),
    ],
  ])("%s", (_what, error, text) => {
    expect(() => authenticator.register(text, { facetId })).toThrow(error);
    expect(authenticator.keys).toEqual([]);
  });

  test("a facet that is not in the list for version 1.0", () => {
    const listOf = (minor: number, id: string) => ({
      trustedFacets: [{ version: { major: 1, minor }, ids: [id] }],
    });
    for (const trustedFacets of [listOf(0, "https://other.example"), listOf(1, facetId), {}]) {
      expect(() => authenticator.register(requestOf("Reg"), { facetId, trustedFacets })).toThrow(
        "untrustedFacet",
      );
    }
    authenticator.register(requestOf("Reg"), { facetId, trustedFacets: listOf(0, facetId) });
    expect(authenticator.keys).toHaveLength(1);
  });

  test("a transaction that is too long, padded, or not text", () => {
    const asking = (contentType: string, content: string) => () =>
      authenticator.authenticate(requestOf("Auth", { transaction: [{ contentType, content }] }), { facetId });
    expect(asking("text/plain", "A".repeat(201))).toThrow("badTransactionContent");
    expect(asking("text/plain", "QQ==")).toThrow("badTransactionContent");
    expect(asking("image/png", "AAAA")).toThrow("noSuitableAuthenticator");
    expect(asking("text/plain", "A".repeat(200))).not.toThrow();
  });

  test("version 1.0 only if there is version 1.1", () => {
    const [one] = JSON.parse(requestOf("Reg")) as object[];
    const older = { ...one, header: { upv: { major: 1, minor: 0 }, op: "Reg", appID: appId } };
    const answered = (...messages: unknown[]) =>
      opened(authenticator.register(JSON.stringify(messages), { facetId })).message.header;
    expect(answered(older, one)).toMatchObject({ upv });
    expect(answered(older)).toMatchObject({ upv: { major: 1, minor: 0 } });
  });
});

describe("several keys", () => {
  const authenticator = createUafAuthenticator();
  for (const username of ["one", "two", "three"]) {
    authenticator.register(requestOf("Reg", { username }), { facetId });
  }
  const ids = authenticator.keys.map(({ id }) => id.toString("base64url"));
  const keyIdOf = (text: string) => opened(text).member(0x2e09).toString("base64url");
  const only = (...keyIDs: string[]): Change => ({
    policy: { accepted: [[{ aaid: ["006F#0001"], keyIDs }]] },
  });

  test("are chosen by the policy's key ids, or by the caller", () => {
    const [, second = "", third = ""] = ids;
    expect(keyIdOf(authenticator.authenticate(requestOf("Auth", only(second)), { facetId }))).toBe(second);
    const key = authenticator.keys[2];
    const overrides = key ? { key } : {};
    expect(keyIdOf(authenticator.authenticate(requestOf("Auth", only(second)), { facetId, overrides }))).toBe(
      third,
    );
    expect(() => authenticator.authenticate(requestOf("Auth", only("AAAA")), { facetId })).toThrow(
      "noSuitableAuthenticator",
    );
  });

  test("are restored in another authenticator, and are deregistered by id, by model, or all", () => {
    const other = createUafAuthenticator({ keys: authenticator.keys });
    const forget = (aaid: unknown, keyID: unknown) =>
      other.deregister(
        JSON.stringify([{ header: { upv, op: "Dereg", appID: appId }, authenticators: [{ aaid, keyID }] }]),
        { facetId },
      );
    expect(forget("006F#0001", ids[0])).toBe("[{}]");
    expect(other.keys).toHaveLength(2);
    forget("FFFF#0001", "");
    expect(other.keys).toHaveLength(2);
    expect(() => forget("", null)).toThrow("protocolError");
    forget("", "");
    expect([other.keys.length, authenticator.keys.length]).toEqual([0, 3]);
  });
});
