import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

let runtime: TestRuntime;
let application: PasskeyApplication;

beforeAll(async () => {
  runtime = await testRuntime();
  application = await passkeyApplication(runtime);
});

afterAll(() => runtime.close());

const addresses = [
  ["POST", "/registration/initialize"],
  ["POST", "/registration/finalize"],
  ["POST", "/login/initialize"],
  ["POST", "/login/finalize"],
  ["POST", "/mfa/registration/initialize"],
  ["POST", "/mfa/registration/finalize"],
  ["POST", "/mfa/login/initialize"],
  ["POST", "/mfa/login/finalize"],
  ["PATCH", "/credentials/AAAA"],
] as const;

const names = fc.constantFrom(
  "user_id",
  "username",
  "display_name",
  "icon",
  "name",
  "id",
  "rawId",
  "type",
  "response",
  "transports",
);

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom("\0", "\ud800", "__proto__", 1e308, -0, "public-key", "x".repeat(5_000)),
);

/** The shape that is told of everything that is refused. */
const isRefusal = (body: { title?: unknown; details?: unknown; status?: unknown }, status: number) =>
  typeof body.title === "string" && typeof body.details === "string" && body.status === status;

test("whatever is sent to whichever address is answered, and nothing by a 500", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...addresses),
      fc.dictionary(names, odd),
      async ([method, path], body) => {
        const answer = await application.call(method, path, body);
        expect(answer.status).toBeLessThan(500);
        if (answer.status >= 400) expect(isRefusal(answer.body, answer.status)).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});

/** One member of an answer, at any depth, in place of which something else stands. */
const members = ["id", "rawId", "type", "response"] as const;
const parts = [
  "clientDataJSON",
  "attestationObject",
  "authenticatorData",
  "signature",
  "userHandle",
  "transports",
] as const;

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("base64url"));
const clientData = fc
  .record({ type: odd, challenge: odd, origin: odd, crossOrigin: odd, topOrigin: odd }, { requiredKeys: [] })
  .map((data) => Buffer.from(JSON.stringify(data)).toString("base64url"));
const replaced = fc.oneof(odd, bytes, clientData);

test("an answer of which any part is replaced is refused, and nothing by a 500", async () => {
  const authenticator = softwareAuthenticator();
  const userId = randomUUID();
  const { answer: registration } = await application.register(userId, { authenticator });
  const assertion = await application.answer(authenticator, "/login");
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("/registration/finalize", "/login/finalize", "/mfa/login/finalize"),
      fc.oneof(fc.constantFrom(...members), fc.constantFrom(...parts)),
      replaced,
      async (path, member, value) => {
        const answer = path.startsWith("/registration") ? registration : assertion;
        const body = (members as readonly string[]).includes(member)
          ? { ...answer, [member]: value }
          : { ...answer, response: { ...answer.response, [member]: value } };
        const told = await application.call("POST", path, body);
        // What is replaced by itself, or was not looked at, leaves an answer that is right: once.
        if (told.status === 200) return;
        expect(told.status).toBeLessThan(500);
        expect(isRefusal(told.body, told.status)).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});
