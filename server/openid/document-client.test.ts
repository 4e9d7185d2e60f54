import { generateKeyPairSync } from "node:crypto";
import { Resolver } from "node:dns/promises";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { makeCertificate, pemOf } from "../lib/certificates.ts";
import { startNameServer } from "../testing/name-server.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { createDocumentClient } from "./document-client.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ca = pemOf(makeCertificate({ subject: { CN: "app.example.com" }, key: privateKey }));
const tls = { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: ca };

let host: WebhookReceiver;

beforeAll(async () => {
  host = await startReceiver({ tls, host: "127.0.0.2" });
});
afterAll(() => host.close());

/** A client for which 127.0.0.2 stands for the public internet. */
async function client(addresses = ["127.0.0.2"], timeoutMs = 60_000) {
  const names = await startNameServer(() => addresses);
  onTestFinished(() => names.close());
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([names.address]);
  const isAllowed = (address: string) => address === "127.0.0.2";
  const made = createDocumentClient({ allowPrivate: false, resolver, isAllowed, ca, timeoutMs });
  onTestFinished(() => made.close());
  return made;
}

const address = () => `https://app.example.com:${host.port}/client.json`;
const isJson = { "content-type": "application/json" };

function answering(answer: (response: ServerResponse) => void): void {
  host.answer = answer;
  onTestFinished(() => {
    host.answer = (response) => response.writeHead(204).end();
  });
}

test("a document is read with how long it is valid", async () => {
  answering((response) =>
    response.writeHead(200, { ...isJson, "cache-control": "public, max-age=600" }).end("{}"),
  );
  expect(await (await client()).get("a", address())).toEqual({ status: 200, text: "{}", maxAgeSeconds: 600 });
});

describe("A222 a document is not read", () => {
  test.each([
    ["from this machine", ["127.0.0.1"]],
    ["from the metadata service", ["169.254.169.254"]],
    ["where one of the addresses is private", ["127.0.0.2", "10.0.0.1"]],
  ])("%s", async (_, addresses) => {
    const before = host.connections();
    await expect((await client(addresses)).get("a", address())).rejects.toThrow();
    expect(host.connections()).toBe(before);
  });

  test.each([
    "http://app.example.com/client.json",
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://localhost/client.json",
    "https://app.example.com:22/client.json",
    "https://anna@app.example.com/client.json",
  ])("from %s", async (place) => {
    await expect((await client()).get("a", place)).rejects.toThrow(/its address/);
  });

  test("from a host without a certificate of its name", async () => {
    answering((response) => response.writeHead(200, isJson).end("{}"));
    const other = `https://other.example.com:${host.port}/client.json`;
    await expect((await client()).get("a", other)).rejects.toThrow(/altnames/i);
  });

  test.each([
    ["that is too large", /too large/, "x".repeat(9 * 1024), isJson],
    ["that is a page", /not JSON/, "<p>", { "content-type": "text/html" }],
    ["that is compressed", /compressed/, "{}", { ...isJson, "content-encoding": "gzip" }],
  ])("%s", async (_, message, body, headers) => {
    answering((response) => response.writeHead(200, headers).end(body));
    await expect((await client()).get("a", address())).rejects.toThrow(message);
  });

  test("that redirects: the answer says so, and nothing is followed", async () => {
    answering((response) => response.writeHead(302, { location: "/other.json" }).end());
    const before = host.received.length;
    expect(await (await client()).get("a", address())).toMatchObject({ status: 302, text: "" });
    expect(host.received.length).toBe(before + 1);
  });

  test("that never ends", async () => {
    answering((response) => {
      response.writeHead(200, isJson);
      const drip = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drip));
    });
    await expect((await client(undefined, 300)).get("a", address())).rejects.toThrow(/abort|timeout/i);
  });

  test("while many of the tenant are being read; those of others are", async () => {
    const waiting: ServerResponse[] = [];
    answering((response) => void waiting.push(response));
    const made = await client();
    const reading = Array.from({ length: 16 }, () => made.get("a", address()));
    await expect(made.get("a", address())).rejects.toThrow(/too many/);
    const ofAnother = made.get("b", address());
    await expect.poll(() => waiting.length).toBe(17);
    for (const response of waiting) response.writeHead(200, isJson).end("{}");
    const answers = await Promise.all([...reading, ofAnother]);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});
