import { describe, expect, test } from "vitest";
import { type ApiRequest, webRequest } from "./api-request.ts";
import { MAX_BODY_BYTES, readObject, readText } from "./body.ts";

function request(body: BodyInit | null, headers: Record<string, string> = {}): ApiRequest {
  return webRequest(
    new Request("http://localhost/login", {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    } as RequestInit),
  );
}

describe("readObject and readText", () => {
  test("reads a JSON object", async () => {
    expect(await readObject(request('{"a":[1,{"b":null}]}'))).toEqual({
      ok: true,
      value: { a: [1, { b: null }] },
      text: '{"a":[1,{"b":null}]}',
    });
  });

  test("reads an empty body of any type as an empty object", async () => {
    expect(await readObject(request(null))).toEqual({ ok: true, value: {}, text: "" });
    expect(await readObject(request("", { "content-type": "text/plain" }))).toMatchObject({
      ok: true,
      value: {},
    });
  });

  const noObject = "the body must be a JSON object";
  test.each([
    ["no JSON", "{", noObject],
    ["nothing but a word", "hello", noObject],
    ["an array", "[]", noObject],
    ["a string", '"a"', noObject],
    ["null", "null", noObject],
    ["a number", "1", noObject],
    ["A91 a byte order mark", "\ufeff{}", noObject],
    ["A91 a number out of range", '{"a":1e999}', "the number at a is out of range"],
    ["A91 a name that occurs twice", '{"a":1,"a":2}', "the member a occurs twice"],
    [
      "A91 a name that occurs twice in different spellings",
      '{"a":1,"\\u0061":2}',
      "the member a occurs twice",
    ],
    ["A91 arrays 100 000 deep", `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, noObject],
    [
      "A91 a thousand members",
      JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]))),
      noObject,
    ],
    [
      "A90 a member named __proto__",
      '{"input_data":{"__proto__":{"polluted":1}}}',
      "the member input_data.__proto__ is not allowed",
    ],
    ["A10 a lone surrogate", '{"a":["x","\\ud800"]}', "the text at a[1] is not well-formed Unicode"],
    [
      "A10 a lone surrogate in a name",
      '{"\\udc00":1}',
      "the name of the member \ufffd is not well-formed Unicode",
    ],
    [
      "a long name that occurs twice",
      `{"${"x".repeat(200)}":1,"${"x".repeat(200)}":2}`,
      `the member ${"x".repeat(100)}… occurs twice`,
    ],
  ])("rejects %s as malformed, with the member", async (_, text, details) => {
    expect(await readObject(request(text))).toEqual({ ok: false, reason: "malformed", details });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("accepts 32 levels of nesting and rejects 33", async () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect((await readObject(request(nested(32)))).ok).toBe(true);
    expect((await readObject(request(nested(33)))).ok).toBe(false);
  });

  test("ignores brackets, colons and quotes inside strings", async () => {
    const value = { a: '[{"b":1}] \\" : ', b: "\\", c: "{[".repeat(500) };
    expect(await readObject(request(JSON.stringify(value)))).toMatchObject({ ok: true, value });
  });

  test.each([
    ["A37 text", "text/plain"],
    ["A37 a form", "application/x-www-form-urlencoded"],
    ["A91 another charset", "application/json; charset=utf-16"],
    ["no type", ""],
    ["a type that only begins like JSON", "application/json5"],
  ])("rejects the media type %s as malformed", async (_, type) => {
    expect(await readObject(request("{}", { "content-type": type }))).toMatchObject({
      ok: false,
      reason: "malformed",
    });
  });

  test("accepts a UTF-8 charset parameter", async () => {
    for (const type of ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']) {
      expect((await readObject(request("{}", { "content-type": type }))).ok).toBe(true);
    }
  });

  test("A91 rejects a body that is compressed or not UTF-8", async () => {
    expect((await readObject(request("{}", { "content-encoding": "gzip" }))).ok).toBe(false);
    expect((await readObject(request(new Uint8Array([0x7b, 0xff, 0x7d])))).ok).toBe(false);
    expect((await readObject(request(Buffer.from("{}", "utf16le")))).ok).toBe(false);
  });

  test("accepts 64 KiB and rejects one byte more", async () => {
    const text = (size: number) => `{"a":"${"x".repeat(size - 8)}"}`;
    expect((await readText(request(text(MAX_BODY_BYTES)), "application/json")).ok).toBe(true);
    expect(await readText(request(text(MAX_BODY_BYTES + 1)), "application/json")).toEqual({
      ok: false,
      reason: "too_large",
    });
  });

  test("does not read a body whose declared length is too large", async () => {
    let pulled = 0;
    const stream = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const answer = await readText(
      request(stream, { "content-length": String(MAX_BODY_BYTES + 1) }),
      "application/json",
    );
    expect(answer).toEqual({ ok: false, reason: "too_large" });
    expect(pulled).toBe(0);
  });

  test("A91 stops reading an endless body at the limit", async () => {
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024;
        controller.enqueue(new Uint8Array(1024).fill(0x20));
      },
    });
    expect(await readText(request(stream), "application/json")).toEqual({ ok: false, reason: "too_large" });
    expect(sent).toBeLessThan(MAX_BODY_BYTES + 4096);
  });

  test("rejects an interrupted body as malformed", async () => {
    const stream = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
    expect(await readText(request(stream), "application/json")).toEqual({ ok: false, reason: "malformed" });
  });
});
