import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { profileOf } from "../account/profile.ts";
import { requestContext } from "../testing/request-context.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { insertUser } from "../testing/users.ts";
import { MAX_METADATA_CHARACTERS, mergePatch, patchMetadata, patchUnsafeMetadata } from "./metadata.ts";

describe("mergePatch", () => {
  // RFC 7396, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', "{}"],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', "null", "null"],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
    ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])("patches %s with %s to %s", (target, patch, result) => {
    expect(mergePatch(JSON.parse(target), JSON.parse(patch))).toEqual(JSON.parse(result));
  });

  it("A90 treats every name as data", () => {
    const hostile = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}';
    const merged = mergePatch({}, JSON.parse(hostile)) as Record<string, unknown>;
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(JSON.stringify(merged)).toBe(hostile);
    expect(JSON.stringify(mergePatch(merged, JSON.parse('{"__proto__":{"polluted":null}}')))).toContain(
      '"__proto__":{}',
    );
  });

  it("does not modify its target", () => {
    const target = { a: { b: 1 } };
    mergePatch(target, { a: { b: 2 } });
    expect(target).toEqual({ a: { b: 1 } });
  });
});

describe("patchMetadata", () => {
  it("clears the metadata on null", () => expect(patchMetadata({ a: 1 }, null)).toEqual({}));

  it.each([1, "a", true, [], [{}]])("rejects the patch %j", (patch) => {
    expect(patchMetadata({}, patch)).toBeNull();
  });

  it(`rejects a result of more than ${MAX_METADATA_CHARACTERS} characters of JSON`, () => {
    const exact = { a: "x".repeat(MAX_METADATA_CHARACTERS - '{"a":""}'.length) };
    expect(patchMetadata({}, exact)).toEqual(exact);
    expect(patchMetadata({ b: 1 }, exact)).toBeNull();
    expect(patchMetadata({ b: 1 }, { ...exact, b: null })).toEqual(exact);
  });

  it.each([{ a: "\0" }, { "\0": 1 }, { a: ["\ud800"] }, { a: { "\udc00": 1 } }])(
    "rejects %j, which the database cannot store",
    (patch) => {
      expect(patchMetadata({}, patch)).toBeNull();
    },
  );
});

describe("patchUnsafeMetadata", () => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await testRuntime();
  });
  afterAll(() => runtime.close());

  const patch = async (userId: string, value: unknown) => {
    const { tenant, database } = runtime;
    await database.write.transaction(patchUnsafeMetadata(requestContext(runtime), userId, value));
    return (await profileOf(database.read, tenant, userId))?.metadata;
  };

  it("applies two concurrent patches one after the other", async () => {
    const userId = await insertUser(runtime);
    await Promise.all([patch(userId, { a: 1 }), patch(userId, { b: { c: "ä" } })]);
    expect(await patch(userId, {})).toEqual({ unsafe_metadata: { a: 1, b: { c: "ä" } } });
    expect(await patch(userId, JSON.parse('{"a":null,"__proto__":{"x":1}}'))).toEqual({
      unsafe_metadata: JSON.parse('{"b":{"c":"ä"},"__proto__":{"x":1}}'),
    });
    await expect(patch(userId, { long: "x".repeat(MAX_METADATA_CHARACTERS) })).rejects.toThrow("metadata");
    expect(await patch(userId, null)).toBeUndefined();
    await expect(patch(randomUUID(), { a: 1 })).rejects.toThrow("metadata");
  });
});
