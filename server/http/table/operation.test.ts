import { describe, expect, test } from "vitest";
import { z } from "zod";
import { json, type Reply } from "../answer/reply.ts";
import { webRequest } from "../request/api-request.ts";
import { csv, instant, pageQuery, uuid } from "./fields.ts";
import type { HandlerContext } from "./handler-context.ts";
import { operation, tagged } from "./operation.ts";

const id = "7f1c9a52-3f0e-4f0e-9d60-0a3f2a1b5c4d";

/** An operation with every kind of input, which answers what it received. */
const row = tagged(
  "service",
  operation("PUT /admin/things/{id}/parts/{name}", {
    id: "putPart",
    summary: "Put a part",
    params: z.object({ id: uuid(), name: z.string() }),
    query: z.object({
      ...pageQuery,
      kinds: csv(z.enum(["a", "b"])).optional(),
      tags: z.array(z.string()).optional(),
      exact: z.boolean().optional(),
      since: instant().optional(),
    }),
    body: z.object({
      title: z.string().min(1).max(5),
      parts: z.array(z.strictObject({ size: z.int().min(0) })).default([]),
    }),
    answers: { 200: { schema: z.unknown() }, 404: "There is no such thing." },
    handler: (_, input) => json(200, input),
  }),
);

async function call(
  body: unknown = { title: "one" },
  { query = "", params = { id, name: "x" }, headers = {} } = {},
) {
  const url = new URL(`http://localhost/admin/things${query}`);
  const request = webRequest(
    new Request(url, {
      method: "PUT",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    }),
  );
  const reply = (await row.handler({ request, url, params } as unknown as HandlerContext)) as Reply;
  return { ...reply, body: JSON.parse(reply.body ?? "null") };
}

const errorOf = async (...given: Parameters<typeof call>) => {
  const { status, body } = await call(...given);
  expect(body).toMatchObject({ code: status });
  return body.message;
};

describe("an operation", () => {
  test("passes on parsed parameters, query and body, with defaults", async () => {
    const { body } = await call(
      { title: "one", parts: [{ size: 1 }] },
      {
        params: { id: id.toUpperCase(), name: "x" },
        query: "?kinds=a,b&kinds=a&tags=x,y&tags=z&exact=true&since=2026-01-31T12:00:00+02:00&per_page=5",
      },
    );
    expect(body).toEqual({
      params: { id, name: "x" },
      query: {
        page: 1,
        per_page: 5,
        kinds: ["a", "b", "a"],
        tags: ["x,y", "z"],
        exact: true,
        since: "2026-01-31T10:00:00.000Z",
      },
      body: { title: "one", parts: [{ size: 1 }] },
    });
  });

  test.each([
    [{}, "The body is invalid: title is missing."],
    [{ title: "longer" }, "The body is invalid: title is too long."],
    [{ title: "one", failures: 1 }, "The body is invalid: it has the unknown member failures."],
    [
      { title: "one", parts: [{ size: 1, id: 2 }] },
      "The body is invalid: parts[0] has the unknown member id.",
    ],
    [{ title: "a\0b" }, "The body is invalid: it must not contain the character NUL."],
    ["", "The body is invalid: title is missing."],
    ["[]", "The body is invalid: it must be an object."],
    ["null", "The body is invalid: it must be an object."],
    ["{", "The body is invalid: the body must be a JSON object."],
    ['{"title":"a","title":"b"}', "The body is invalid: the member title occurs twice."],
    ['{"__proto__":{}}', "The body is invalid: the member __proto__ is not allowed."],
  ])("A90 answers the body %j with a 400 that names what is wrong", async (body, message) => {
    expect(await errorOf(body)).toBe(message);
  });

  test.each([
    ["?page=0", "page is out of range"],
    ["?page=1e3", "page must be a number"],
    ["?page=", "page must be a number"],
    ["?since=", "since must be a time such as 2026-01-31T12:00:00Z"],
    ["?exact=", "exact must be true or false"],
    ["?kinds=", "kinds[0] must be a or b"],
    ["?kinds=a,", "kinds[1] must be a or b"],
    ["?page=1&page=2", "page must be given once"],
    ["?exact=1", "exact must be true or false"],
    ["?kinds=a,c", "kinds[1] must be a or b"],
    ["?since=yesterday", "since must be a time such as 2026-01-31T12:00:00Z"],
    ["?since=0000-01-01T00:00:00%2B12:00", "since must be a time such as 2026-01-31T12:00:00Z"],
    ["?tags=%00", "it must not contain the character NUL"],
    ["?perpage=1", "it has the unknown member perpage"],
    ["?__proto__=1", "it has the unknown member __proto__"],
    ["?constructor=1", "it has the unknown member constructor"],
  ])("answers the query %s with a 400", async (query, details) => {
    expect(await errorOf(undefined, { query })).toBe(`The query is invalid: ${details}.`);
  });

  test("answers a malformed id with a 400 before it reads the body", async () => {
    expect(await errorOf("{", { params: { id: "1", name: "x" } })).toBe(
      "The path is invalid: id must be a UUID.",
    );
    expect(await errorOf("{", { params: { id, name: "\0" } })).toBe(
      "The path is invalid: it must not contain the character NUL.",
    );
  });

  test("answers another media type with 400 and a body above the limit with 413", async () => {
    expect((await call({ title: "one" }, { headers: { "content-type": "text/plain" } })).status).toBe(400);
    const large = await call({ title: "x".repeat(70_000) });
    expect(large).toMatchObject({ status: 413, body: { code: 413, message: "The body is too large." } });
  });

  test("keeps its declaration for the document", () => {
    expect(row).toMatchObject({
      method: "PUT",
      errorShape: "plain",
      access: "public",
      operation: { id: "putPart", security: "none", tag: "service" },
    });
  });
});
