import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import type { FetchedDocument } from "./document-client.ts";
import { documentReading } from "./metadata-documents.ts";
import { answeredFor } from "./visitor.ts";

const web = "https://agent.example.org/callback";

const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_DOCUMENT_HOSTS: "agent.example.org,*.agents.example",
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_RATE_LIMITER_DOCUMENTS_PER_HOST: "20",
});

/** A host of documents, and how the library reads them. */
function host() {
  const read: string[] = [];
  const answers = new Map<string, Partial<FetchedDocument> | Error>();
  const documents = {
    async get(_: string, address: string): Promise<FetchedDocument> {
      read.push(address);
      const answer = answers.get(address) ?? { status: 404 };
      if (answer instanceof Error) throw answer;
      return { status: 200, text: "", maxAgeSeconds: null, ...answer };
    },
    close() {},
  };
  const { allowFetch, fetch } = documentReading(
    { runtime: { ...runtime, documents }, tenant: runtime.tenant },
    "ES256",
  );
  return {
    read,
    answers,
    allows: (address: string) => answeredFor({ session: null }, async () => allowFetch(null, address)),
    /** What the library reads of a client. */
    client: (address: string) =>
      answeredFor({ session: null }, async () => {
        allowFetch(null, address);
        const response = await fetch(address);
        return { metadata: await response.json(), maxAge: response.headers.get("cache-control") };
      }),
    keys: (address: string) => answeredFor({ session: null }, async () => (await fetch(address)).text()),
    describe(metadata: object = {}, answer: Partial<FetchedDocument> = {}): string {
      const address = `https://agent.example.org/${randomUUID()}.json`;
      const said = { client_id: address, client_name: "An agent", redirect_uris: [web], ...metadata };
      answers.set(address, { text: JSON.stringify(said), ...answer });
      return address;
    },
  };
}

test("documents of the hosts that are listed are read, and of no other", async () => {
  const { allows } = host();
  for (const address of ["https://agent.example.org/a", "https://one.agents.example/a?b=c"])
    expect(await allows(address), address).toBe(true);
  for (const address of [
    "https://agents.example/a",
    "https://evilagents.example/a",
    "https://agent.example.org.evil.example/a",
    "https://agent.example.org@evil.example/a",
    "https://AGENT.example.org/a",
    "https://agent.example.org:443/a",
    "https://agent.example.org/",
    "https://agent.example.org/a#b",
    "https://agent.example.org/a/../b",
    `https://agent.example.org/${"a".repeat(500)}`,
    "http://agent.example.org/a",
  ])
    expect(await allows(address), address).toBe(false);
});

test("the library is handed what is known of a document alone, with the scopes of such clients", async () => {
  const { client, describe } = host();
  const address = describe({
    scope: "openid phone",
    subject_type: "pairwise",
    grant_types: ["authorization_code", "implicit", "urn:example:other"],
    backchannel_logout_uri: "https://agent.example.org/out",
    policy_uri: "ftp://agent.example.org/",
  });
  expect((await client(address)).metadata).toEqual({
    client_id: address,
    client_name: "An agent",
    token_endpoint_auth_method: "none",
    application_type: "web",
    redirect_uris: [web],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    scope: "openid profile email offline_access",
    id_token_signed_response_alg: "ES256",
  });
});

test("a document is taken as it was read for as long as its host says, within five minutes and a day", async () => {
  const { client, describe, read } = host();
  const brief = describe({}, { maxAgeSeconds: 0 });
  const long = describe({}, { maxAgeSeconds: 10 * 86_400 });
  expect((await client(brief)).maxAge).toBe("max-age=300");
  expect((await client(long)).maxAge).toBe("max-age=86400");
  await client(brief);
  expect(read).toEqual([brief, long]);
  runtime.advanceClock(301);
  await client(brief);
  await client(long);
  expect(read).toEqual([brief, long, brief]);
});

test("a host that does not answer, or fails, keeps its client; one that has dropped it does not", async () => {
  const { client, describe, answers } = host();
  const address = describe();
  const { metadata } = await client(address);
  runtime.advanceClock(301);
  answers.set(address, new Error("cut off"));
  expect(await client(address)).toEqual({ metadata, maxAge: "max-age=0" });
  answers.set(address, { status: 503 });
  expect((await client(address)).metadata).toEqual(metadata);
  answers.set(address, { status: 404 });
  await expect(client(address)).rejects.toThrow("status 404");
  const unread = describe();
  answers.set(unread, { status: 503 });
  await expect(client(unread)).rejects.toThrow("status 503");
});

test("A223 what a document has become is what counts, once it is read again", async () => {
  const { client, describe, answers } = host();
  const address = describe();
  await client(address);
  const moved = { client_id: address, redirect_uris: ["https://other.example/callback"] };
  answers.set(address, { text: JSON.stringify(moved) });
  expect((await client(address)).metadata).toMatchObject({ redirect_uris: [web] });
  runtime.advanceClock(301);
  expect((await client(address)).metadata).toMatchObject({ redirect_uris: moved.redirect_uris });
  answers.set(address, { text: JSON.stringify({ ...moved, client_id: "https://other.example/a" }) });
  runtime.advanceClock(301);
  await expect(client(address)).rejects.toThrow("client_id");
});

test("the keys of a client are read once in a minute, also where they cannot be", async () => {
  const { keys, answers, read } = host();
  const address = "https://agent.example.org/keys.json";
  answers.set(address, { text: "{}" });
  expect([await keys(address), await keys(address)]).toEqual(["{}", "{}"]);
  const broken = "https://other.example/keys.json";
  answers.set(broken, new Error("cut off"));
  for (let time = 0; time < 3; time += 1) await expect(keys(broken)).rejects.toThrow("cut off");
  expect(read).toEqual([address, broken]);
  runtime.advanceClock(61);
  await keys(address);
  expect(read).toEqual([address, broken, address]);
});

test("A222 a host is asked a bounded number of times in a minute, whatever the addresses", async () => {
  const { client, read } = host();
  runtime.advanceClock(120);
  onTestFinished(() => runtime.advanceClock(120));
  const address = () => `https://busy.agents.example/${randomUUID()}.json`;
  const answers = await Promise.allSettled(Array.from({ length: 30 }, () => client(address())));
  expect(answers.every(({ status }) => status === "rejected")).toBe(true);
  expect(read).toHaveLength(20);
});
