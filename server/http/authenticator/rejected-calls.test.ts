import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { callAt, startAuthenticatorService } from "../../testing/uaf-service.ts";
import { applicationOf, linkOf, requests } from "../../testing/uaf-walk.ts";

/** Calls that the authenticator interface rejects, against a running server over HTTP. */

const service = await openForTests(startAuthenticatorService());
const application = applicationOf(service);

describe("callers", () => {
  test("hello accepts the key in each scheme", async () => {
    for (const scheme of ["secret", "Secret", "SECRET", "Bearer", "bearer"]) {
      const { status } = await service.call("GET", "/hello", { authorization: `${scheme} ${service.key}` });
      expect([scheme, status]).toEqual([scheme, 200]);
    }
  });

  test("A67 every operation rejects other credentials", async () => {
    const foreign = await service.stile("keys", "create", "--interface", "passkeys");
    const wrong = [
      null,
      "",
      service.key,
      `Basic ${service.key}`,
      "secret",
      `secret ${service.key.slice(0, 31)}`,
    ];
    const tokens = [
      ...wrong,
      `secret ${service.key.slice(0, -1)}${service.key.endsWith("A") ? "B" : "A"}`,
      `secret ${foreign}`,
      `secret ${service.key},`,
    ];
    const { id } = await application.register("unauthorized");
    const operations = [
      ["GET", "/hello"],
      ["POST", requests],
      ["GET", `${requests}/${id}`],
      ["PUT", `${requests}/${id}`],
      ["DELETE", `${requests}/${id}`],
      ["GET", `${requests}/${id}/qrcode`],
      ["GET", "/mgmt/v1/registrations/unauthorized"],
      ["POST", "/mgmt/v1/registrations/rename/3f2504e0-4f89-41d3-9a0c-0305e82c3301"],
    ] as const;
    for (const [method, path] of operations) {
      for (const authorization of tokens) {
        const { status, body } = await service.call(method, path, {
          authorization,
          ...(method === "GET" || method === "DELETE" ? {} : { body: {} }),
        });
        expect([method, path, authorization, status]).toEqual([method, path, authorization, 401]);
        expect(body).toEqual({ code: 401, message: expect.stringMatching(/./) });
      }
    }
  });

  test("a device token authorizes reading and answering its own request only", async () => {
    const [one, other] = [await application.register("device one"), await application.register("device two")];
    const { device } = await application.scan(one);
    const as = async (method: string, path: string) => {
      const body = method === "POST" ? { body: { operation: "REG", userId: "x", username: "x" } } : {};
      return (await service.call(method, path, { authorization: device, ...body })).status;
    };
    expect(await as("GET", `${requests}/${one.id}`)).toBe(200);
    expect(await as("GET", `${requests}/${other.id}`)).toBe(401);
    expect(await as("DELETE", `${requests}/${one.id}`)).toBe(401);
    expect(await as("GET", "/hello")).toBe(401);
    expect(await as("POST", requests)).toBe(401);
    expect(await as("GET", `${requests}/${one.id}/qrcode`)).toBe(401);
    expect(await as("GET", "/mgmt/v1/registrations/device%20one")).toBe(401);
    expect(await application.statusOf(one.id)).toBe("PENDING");
  });

  test("A68 a request of one tenant is 404 in another", async () => {
    const acme = await service.stile("tenants", "create", "--name", "Acme");
    const key = await service.stile("keys", "create", "--interface", "authenticator", "--tenant", acme);
    const there = `${service.server.url}/t/${acme}/authenticator`;
    const { id } = await application.register("tenants");
    const authorization = `secret ${key}`;
    expect((await callAt(`${there}/hello`, "GET", { authorization })).status).toBe(200);
    expect((await callAt(`${there}/hello`, "GET", { authorization: `secret ${service.key}` })).status).toBe(
      401,
    );
    const unknown = await callAt(`${there}${requests}/${"a".repeat(44)}`, "GET", { authorization });
    for (const method of ["GET", "DELETE"]) {
      const { status, text } = await callAt(`${there}${requests}/${id}`, method, { authorization });
      expect([status, text]).toEqual([404, unknown.text]);
    }
    expect(await application.statusOf(id)).toBe("PENDING");
  });

  test("A80 an unknown resource is 404, with both spellings of the message", async () => {
    for (const [method, path] of [
      ["GET", `${requests}/${"a".repeat(44)}`],
      ["DELETE", `${requests}/${"a".repeat(44)}`],
      ["GET", `${requests}/..%2F..%00`],
      ["GET", `${requests}/${"a".repeat(44)}/qrcode`],
      ["GET", "/mgmt/v1/registrations/unknown%20user"],
    ] as const) {
      const { status, body } = await service.call(method, path);
      expect([path, status]).toEqual([path, 404]);
      expect(body).toEqual({ code: 404, message: expect.any(String), messsage: body.message });
    }
    const put = await service.call("PUT", `${requests}/${"a".repeat(44)}`, { body: { uafResponse: "[]" } });
    expect(put.status).toBe(404);
  });
});

test("another method is 405 with an error body of the interface", async () => {
  const { id } = await application.register("methods");
  const { status, headers, body } = await service.call("PATCH", `${requests}/${id}`, { body: {} });
  expect([status, headers.get("allow"), body]).toEqual([
    405,
    "GET, PUT, DELETE, HEAD, OPTIONS",
    { code: 405, message: expect.stringMatching(/./) },
  ]);
});

describe("invalid bodies", () => {
  const right = { operation: "AUTH", userId: "u", username: "u" };
  test.each<[string, unknown]>([
    ["no operation", { ...right, operation: undefined }],
    ["another operation", { ...right, operation: "auth" }],
    ["no user", { ...right, userId: undefined }],
    ["a blank user", { ...right, userId: "  " }],
    ["a user of another type", { ...right, userId: ["u"] }],
    ["no name", { ...right, username: undefined }],
    ["a blank name", { ...right, username: "" }],
    ["a name of 129 characters", { ...right, username: "x".repeat(129) }],
    ["a NUL", { ...right, userId: "u\0" }],
    ["a blank transaction", { ...right, transaction: " " }],
    ["a transaction of 151 characters", { ...right, transaction: "x".repeat(151) }],
    ["an invalid list of devices", { ...right, deviceIds: "x" }],
    ["not an object", []],
    ["not JSON", "{"],
    ["a lone surrogate", '{"operation":"AUTH","userId":"\\ud800","username":"u"}'],
  ])("rejects a request with %s", async (_what, body) => {
    const { status, body: refusal } = await service.call("POST", requests, { body });
    expect(status).toBe(400);
    expect(refusal).toEqual({ code: 400, message: expect.stringMatching(/./) });
  });

  test.each<[string, unknown]>([
    ["no answer", {}],
    ["an answer that is not a string", { uafResponse: [] }],
    ["not JSON", "{"],
  ])("a body with %s leaves the request pending", async (_what, body) => {
    const { id } = await application.register("badly answered");
    expect((await service.call("PUT", `${requests}/${id}`, { body })).status).toBe(400);
    expect(await application.statusOf(id)).toBe("PENDING");
  });
});

test("A70 requests for one user are rate limited", async () => {
  const body = { operation: "REG", userId: "flooded", username: "flooded" };
  const statuses = [];
  for (let index = 0; index < 12; index++) {
    const { status, headers, body: told } = await service.call("POST", requests, { body });
    statuses.push(status);
    if (status !== 429) continue;
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(told).toEqual({ code: 429, message: expect.stringMatching(/./) });
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
  expect(statuses.at(-1)).toBe(429);
});

test("A90 A91 no input causes a 500", async () => {
  const { id } = await application.register("nasty");
  const nasty = [
    "%00",
    "%ED%A0%80",
    "__proto__",
    "constructor",
    "a".repeat(2000),
    "%F0%9F%93%B1",
    "..%2F",
    "'",
    "1e999",
  ];
  const values = [
    null,
    "\0",
    "\ud800",
    "x".repeat(60_000),
    1e21,
    -1,
    [],
    [[]],
    {},
    true,
    "__proto__",
    '{"a":1}',
  ];
  const members = [
    "operation",
    "userId",
    "username",
    "displayName",
    "transaction",
    "clientData",
    "deviceIds",
  ];
  const right = { operation: "AUTH", userId: "nasty", username: "nasty" };
  const bodies = [
    "null",
    "[]",
    '{"operation":"AUTH","operation":"REG"}',
    `${"[".repeat(30_000)}${"]".repeat(30_000)}`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, 1]))),
    '{"__proto__":{"operation":"AUTH"}}',
    ...members.flatMap((name) => values.map((value) => JSON.stringify({ ...right, [name]: value }))),
    ...members.map((name) => `{"${name}":{"__proto__":{"a":1}}}`),
  ];
  const answers = [
    ...values.map((uafResponse) => JSON.stringify({ uafResponse })),
    ...values.map((deviceKeyInfo) => JSON.stringify({ uafResponse: "[]", deviceKeyInfo })),
    ...["[]", "[null]", "[[]]", '[{"header":null}]', '{"uafProtocolMessage":{}}', '{"__proto__":[]}'].map(
      (uafResponse) => JSON.stringify({ uafResponse }),
    ),
  ];
  const calls: [string, string, string?][] = [
    ...nasty.flatMap((text): [string, string][] => [
      ["GET", `${requests}/${text}`],
      ["DELETE", `${requests}/${text}`],
      ["GET", `${requests}/${text}/qrcode`],
      ["GET", `${requests}/${id}/qrcode?width=${text}&fg=${text}&token=${text}`],
      ["GET", `${requests}/${id}/events?wait=${text}&token=${text}`],
      ["GET", `/mgmt/v1/registrations/${text}`],
      ["GET", `/${text}`],
    ]),
    ...nasty.map((text): [string, string, string] => [
      "POST",
      `/mgmt/v1/registrations/rename/${text}`,
      '{"newName":"x"}',
    ]),
    ...bodies.map((body): [string, string, string] => ["POST", requests, body]),
    ...[...bodies, ...answers].map((body): [string, string, string] => ["PUT", `${requests}/${id}`, body]),
  ];
  for (const [method, path, body] of calls) {
    const { status } = await service.call(method, path, body === undefined ? {} : { body });
    expect([method, path, body?.slice(0, 200), status < 500]).toEqual([
      method,
      path,
      body?.slice(0, 200),
      true,
    ]);
  }
  expect(await application.statusOf(id)).toBe("PENDING");
});

test("A110 logs contain no key and no token", async () => {
  const asked = await application.register("logged");
  const { link, device } = await application.scan(asked);
  await callAt(link, "GET");
  await callAt(`${linkOf(asked, "events").href}&wait=0`, "GET");
  const tokens = asked.links.map(({ href }: { href: string }) => new URL(href).searchParams.get("token"));
  const secrets = [service.key, device.split(" ")[1], ...tokens.filter(Boolean)];
  expect(secrets).toHaveLength(4);
  const logs = service.server.logs();
  expect(logs).toContain(asked.id);
  for (const secret of secrets) expect(logs).not.toContain(secret);
});
