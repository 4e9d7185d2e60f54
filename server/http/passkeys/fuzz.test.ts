import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { passkeySuite } from "../../testing/passkey-suite.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const { application } = await passkeySuite();

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

const unexpected = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom("\0", "\ud800", "__proto__", 1e308, -0, "public-key", "x".repeat(5_000)),
);

/** Whether a body has the shape of an error. */
const isErrorBody = (body: { title?: unknown; details?: unknown; status?: unknown }, status: number) =>
  typeof body.title === "string" && typeof body.details === "string" && body.status === status;

test("answers any body at every address without a server error", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...addresses),
      fc.dictionary(names, unexpected),
      async ([method, path], body) => {
        const answer = await application.call(method, path, body);
        expect(answer.status).toBeLessThan(500);
        if (answer.status >= 400) expect(isErrorBody(answer.body, answer.status)).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});

/** The members of an answer and of its `response`, one of which is replaced. */
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
  .record(
    {
      type: unexpected,
      challenge: unexpected,
      origin: unexpected,
      crossOrigin: unexpected,
      topOrigin: unexpected,
    },
    { requiredKeys: [] },
  )
  .map((data) => Buffer.from(JSON.stringify(data)).toString("base64url"));
const replaced = fc.oneof(unexpected, bytes, clientData);

test("answers a credential with any part replaced without a server error", async () => {
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
        const result = await application.post(path, body);
        // The value may be the original one, or a member that is not read: such an answer is valid once.
        if (result.status === 200) return;
        expect(result.status).toBeLessThan(500);
        expect(isErrorBody(result.body, result.status)).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});
