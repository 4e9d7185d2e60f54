import { afterEach, expect, test, vi } from "vitest";
import { allowOwnScripts } from "./script-policy.ts";

afterEach(() => vi.unstubAllGlobals());

test.each([
  ["/_next/static/chunks/a.js", true],
  ["http://localhost:3000/_next/static/chunks/a.js", true],
  ["https://other.example/_next/static/chunks/a.js", false],
  ["//other.example/_next/static/a.js", false],
  ["/_next/static/../../thirdparty/callback", false],
  ["data:text/javascript,alert(1)", false],
  ["/t/x/_next/static/a.js", false],
])("A102 the script address %s is passed: %j", (url, passed) => {
  const createPolicy = vi.fn();
  vi.stubGlobal("trustedTypes", { defaultPolicy: null, createPolicy });
  vi.stubGlobal("location", new URL("http://localhost:3000/"));
  allowOwnScripts();
  const [[name, rules] = []] = createPolicy.mock.calls;
  expect(name).toBe("default");
  expect(Object.keys(rules)).toEqual(["createScriptURL"]);
  expect(rules.createScriptURL(url)).toBe(passed ? url : null);
});
