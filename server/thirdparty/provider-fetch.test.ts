import { generateKeyPairSync } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificate, pemOf } from "../lib/certificates.ts";
import { startNameServer } from "../testing/name-server.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { startReceiver } from "../testing/webhook-receiver.ts";
import { toThirdPartyError } from "./oauth-errors.ts";
import { boundedFetch, createPublicFetch } from "./provider-fetch.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ca = pemOf(makeCertificate({ subject: { CN: "keys.example.com" }, key: privateKey }));
const tls = { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: ca };
const host = await openForTests(startReceiver({ tls, host: "127.0.0.2" }));

/** Reads the keys of a host for which 127.0.0.2 stands for the public internet. */
async function readKeys(addresses = ["127.0.0.2"], timeoutMs = 60_000) {
  const names = await startNameServer(() => addresses);
  onTestFinished(() => names.close());
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([names.address]);
  const isAllowed = (address: string) => address === "127.0.0.2";
  const fetch = createPublicFetch({ allowPrivate: false, resolver, isAllowed, ca });
  const read = boundedFetch({ fetch }, AbortSignal.timeout(timeoutMs));
  const address = `https://keys.example.com:${host.port}/keys`;
  return read(address, { method: "GET", headers: {}, redirect: "manual", body: undefined });
}

const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => null,
    (error: unknown) => toThirdPartyError(error).reason,
  );

test("keys are read at an address of the public internet", async () => {
  host.answer = (response) => void response.writeHead(200).end(`{"keys":[]}`);
  const response = await readKeys();
  expect([response.status, await response.json()]).toEqual([200, { keys: [] }]);
  host.answer = (response) => void response.writeHead(204).end();
  expect((await readKeys()).status).toBe(204);
});

test.each([
  ["from this machine", ["127.0.0.1"]],
  ["from the metadata service", ["169.254.169.254"]],
  ["where one of the addresses is private", ["127.0.0.2", "10.0.0.1"]],
])("A344 no connection is made to a name that resolves to others, %s", async (_, addresses) => {
  const before = host.connections();
  expect(await failureOf(readKeys(addresses))).toBe("unreachable");
  expect(host.connections()).toBe(before);
});

test("A344 an answer that is too long, breaks off or does not come is a failure that says so", async () => {
  host.answer = (response) => void response.writeHead(200).end("x".repeat(600_000));
  expect(await failureOf(readKeys())).toBe("answer_too_long");
  host.answer = (response) => {
    response.writeHead(200, { "content-length": "100" }).write("x");
    setTimeout(() => response.destroy(), 50);
  };
  expect(await failureOf(readKeys())).toBe("unreachable");
  host.answer = () => {};
  expect(await failureOf(readKeys(undefined, 300))).toBe("timeout");
});
