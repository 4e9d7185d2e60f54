import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example.com" });

const ask = (settings: Record<string, string>) =>
  visitor(runtime.configured(settings)).request("/.well-known/webauthn");

test("GET /.well-known/webauthn lists the relying party's origins and the related ones, each once", async () => {
  const response = await ask({
    STILE_WEBAUTHN_RELYING_PARTY_ORIGINS: "https://login.example.com,android:apk-key-hash:x",
    STILE_WEBAUTHN_RELATED_ORIGINS: "https://example.net,https://login.example.com,https://example.org",
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await response.json()).toEqual({
    origins: ["https://login.example.com", "https://example.net", "https://example.org"],
  });
});

test("GET /.well-known/webauthn is 404 without related origins", async () => {
  const response = await ask({});
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ code: 404, message: expect.any(String) });
});
