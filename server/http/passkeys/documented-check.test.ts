import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { passkeySuite } from "../../testing/passkey-suite.ts";

/** Runs the check of a token that docs/passkey-server.md shows to applications. */

type Verify = (
  token: string,
  asked?: { userId?: string; transactionId?: string; notCredential?: string; userVerified?: boolean },
) => Promise<{ sub: string; cred: string; amr: string[]; trans?: string }>;

const root = join(import.meta.dirname, "../../..");
const { application, newTenant } = await passkeySuite();

/** Serves the key set, which the documented code fetches. */
const server = createServer(async (_, response) => {
  const { body } = await application.callWithoutKey("GET", "/.well-known/jwks.json");
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
});
const folder = mkdtempSync(join(tmpdir(), "stile application "));
let verify: Verify;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("PASSKEY_SERVER", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("RELYING_PARTY_ID", "localhost");
  const page = readFileSync(join(root, "docs/passkey-server.md"), "utf8");
  const [, code = ""] = /```js\n(\/\/ verify-passkey-token\.js[\s\S]*?)```/.exec(page) ?? [];
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "verify-passkey-token.mjs");
  writeFileSync(file, code);
  ({ verifyPasskeyToken: verify } = await import(/* @vite-ignore */ pathToFileURL(file).href));
});

afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

async function signedIn(by = application) {
  const user = await by.registerUser();
  const answer = await by.answer(user.authenticator, "/login");
  const { body } = await by.postWithoutKey("/login/finalize", answer);
  return { ...user, token: body.token as string };
}

test("accepts a login, a second factor and a transaction", async () => {
  const { userId, credentialId, authenticator, token } = await signedIn();
  expect(await verify(token, { userId, userVerified: true })).toMatchObject({
    sub: userId,
    cred: credentialId,
    amr: ["passkey", "mfa"],
  });

  const factor = await application.register(userId, { mfa: true });
  const second = await application.answer(factor.authenticator, "/mfa/login", { user_id: userId });
  const { body } = await application.post("/mfa/login/finalize", second);
  expect(await verify(body.token, { userId, notCredential: credentialId })).toMatchObject({
    cred: factor.credentialId,
    amr: ["security_key"],
  });

  const transactionId = randomUUID();
  const about = { user_id: userId, transaction_id: transactionId, transaction_data: { amount: 1 } };
  const signed = await application.answer(authenticator, "/transaction", about);
  const { body: confirmed } = await application.post("/transaction/finalize", signed);
  expect(await verify(confirmed.token, { userId, transactionId })).toMatchObject({ trans: transactionId });
  await expect(verify(confirmed.token, { userId })).rejects.toThrow("another transaction, or none");
  await expect(verify(confirmed.token, { userId, transactionId: "other" })).rejects.toThrow(
    "another transaction",
  );
  // A receipt is signed with the same key.
  await expect(verify(confirmed.receipt, { userId, transactionId })).rejects.toThrow();
});

test("rejects the token of another user, call or tenant", async () => {
  const { userId, credentialId, token } = await signedIn();
  await expect(verify(token, { userId: "another one" })).rejects.toThrow("another user");
  await expect(verify(token, { userId, transactionId: "order-1" })).rejects.toThrow("another transaction");
  await expect(verify(token, { userId, notCredential: credentialId })).rejects.toThrow("the first factor");
  await expect(verify(`${token.slice(0, -8)}AAAAAAAA`, { userId })).rejects.toThrow();
  const other = await signedIn(await newTenant());
  await expect(verify(other.token, { userId: other.userId })).rejects.toThrow("no applicable key");
});

test("rejects a response without user verification if that is required", async () => {
  const { userId, authenticator } = await application.registerUser();
  const answer = await application.answer(
    authenticator,
    "/mfa/login",
    { user_id: userId },
    { userVerified: false },
  );
  const { body } = await application.post("/mfa/login/finalize", answer);
  expect(await verify(body.token, { userId })).toMatchObject({ amr: ["passkey"] });
  await expect(verify(body.token, { userId, userVerified: true })).rejects.toThrow("was not verified");
});
