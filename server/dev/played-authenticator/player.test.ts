import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { opened } from "../../testing/uaf-messages.ts";
import { readLink } from "./link.ts";
import { openPlayedAuthenticator, type PlayedAuthenticator } from "./player.ts";

const token = "a".repeat(43);
const upv = { major: 1, minor: 1 };

/** A server with one request and a preset verdict for any answer. */
interface FakeServer {
  operation: "REG" | "AUTH";
  status: string;
  verdict: object;
  facets: string[];
  policy: object;
  put: { uafResponse: string; deviceKeyInfo: { keyName: string } } | null;
}
let fake: FakeServer;

const server = await openForTests(
  createServer((request, response) => {
    const say = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.url === "/facets") {
      return say(200, { trustedFacets: [{ version: { major: 1, minor: 0 }, ids: fake.facets }] });
    }
    if (request.headers.authorization !== `device ${token}`) return say(401, { code: 401 });
    const header = { upv, op: fake.operation === "REG" ? "Reg" : "Auth", appID: `${base}/facets` };
    const message = { header, challenge: "A".repeat(43), username: "ada", policy: fake.policy };
    if (request.method === "GET") {
      const { operation, status } = fake;
      return say(200, { operation, status, request: JSON.stringify([message]) });
    }
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      fake.put = JSON.parse(text);
      say(200, fake.verdict);
    });
  }),
);
await new Promise<void>((resolve) => server.listen(0, resolve));
const base = `http://localhost:${(server.address() as AddressInfo).port}`;

let folder: string;
let file: string;
let authenticator: PlayedAuthenticator;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stile authenticator "));
  file = join(folder, "data", "authenticator.json");
  authenticator = openPlayedAuthenticator(file, base);
  fake = {
    operation: "REG",
    status: "PENDING",
    verdict: { status: "OK" },
    facets: [base],
    policy: { accepted: [[{ aaid: ["006F#0001"] }]] },
    put: null,
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

const approve = (href = `${base}/request`, by = token) => authenticator.approve({ href, token: by });

describe("the played authenticator", () => {
  test("registers, keeps its key in a file with mode 600, and signs with it after a restart", async () => {
    expect(await approve()).toEqual({ outcome: "approved" });
    expect(fake.put?.deviceKeyInfo.keyName).toBe("Played authenticator");
    const registered = opened(fake.put?.uafResponse ?? "");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    authenticator = openPlayedAuthenticator(file, base);
    expect(authenticator.keys()).toMatchObject([{ username: "ada", appId: `${base}/facets` }]);
    fake.operation = "AUTH";
    expect(await approve()).toEqual({ outcome: "approved" });
    expect(opened(fake.put?.uafResponse ?? "").member(0x2e09)).toEqual(registered.member(0x2e09));
  });

  test("forgets a key that the server rejected, or on demand", async () => {
    fake.verdict = { status: "FAILED", error: { code: 1496 } };
    expect(await approve()).toEqual({ outcome: "refused", code: 1496 });
    expect(authenticator.keys()).toEqual([]);
    fake.verdict = { status: "OK" };
    for (const _ of [1, 2, 3]) await approve();
    const [first, second] = authenticator.keys();
    authenticator.forget(first?.id.toString("base64url") ?? "");
    expect(authenticator.keys()[0]).toEqual(second);
    authenticator.forget("all");
    expect(authenticator.keys()).toEqual([]);
  });

  test("reports why it cannot answer", async () => {
    expect(await approve(undefined, "another")).toEqual({ outcome: "unknown" });
    expect(await approve("http://localhost:1/")).toEqual({ outcome: "unreachable" });
    fake.status = "INVALIDATED";
    expect(await approve()).toEqual({ outcome: "over" });
    fake.status = "PENDING";
    fake.policy = { accepted: [[{ aaid: ["FFFF#0001"] }]] };
    expect(await approve()).toEqual({ outcome: "unsuitable", code: 5 });
    fake.facets = [];
    expect(await approve()).toEqual({ outcome: "unsuitable", code: 7 });
    expect(fake.put).toBeNull();
  });

  test("remembers a declined request, and sends nothing", () => {
    authenticator.decline("one");
    authenticator.decline("two");
    expect([openPlayedAuthenticator(file, base).declined(), fake.put]).toEqual([["one", "two"], null]);
  });

  test("does not overwrite a file that it cannot read", () => {
    authenticator.decline("one");
    writeFileSync(file, "{");
    expect(() => authenticator.keys()).toThrow(file);
    expect(() => authenticator.forget("all")).toThrow(file);
  });
});

const id = "b".repeat(44);
const path = `/authenticator/v1/uaf/requests/${id}`;

test.each([
  ["a request", path],
  ["a tenant's request", `/t/00000000-0000-4000-8000-000000000001${path}`],
])("reads the link of %s", (_what, at) => {
  expect(readLink(`  https://login.example${at}?token=${token}\n`, "https://login.example")).toEqual({
    id,
    token,
    href: `https://login.example${at}`,
  });
});

test.each([
  ["nothing", ""],
  ["another server", `https://other.example${path}?token=${token}`],
  ["another port", `https://login.example:8443${path}?token=${token}`],
  ["another scheme", `javascript:${path}?token=${token}`],
  ["no token", `https://login.example${path}`],
  ["a token that breaks a header", `https://login.example${path}?token=a%0D%0Ab`],
  ["another address", `https://login.example/me?token=${token}`],
])("rejects a link with %s", (_what, text) => {
  expect(readLink(text, "https://login.example")).toBeNull();
});
