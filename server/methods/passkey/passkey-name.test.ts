import { randomUUID } from "node:crypto";
import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { testClient } from "../../testing/runtime.ts";
import { insertUser } from "../../testing/users.ts";
import { insertCredential, renameCredential } from "../webauthn-credentials.ts";
import { passkeyName } from "./passkey-name.ts";

const runtime = await runtimeForTests();

const chrome =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

const context = (client: object, settings: Record<string, string> = {}) => {
  const made = requestContext(settings ? runtime.configured(settings) : runtime);
  return { ...made, client: { ...testClient, ...client } };
};

test.each([
  [chrome, "en", "Passkey in Chrome on Linux"],
  [chrome, "de", "Passkey in Chrome unter Linux"],
  [chrome, null, "Passkey in Chrome on Linux"],
  ["Test/1.0", "en", null],
  ["", "en", null],
])("names a passkey that %s created, in %s", (userAgent, language, name) => {
  expect(passkeyName(context({ userAgent, language }))).toBe(name);
});

test("names no browser that sessions may not store", () => {
  const settings = { STILE_SESSION_ACQUIRE_USER_AGENT: "false" };
  expect(passkeyName(context({ userAgent: chrome }, settings))).toBeNull();
});

test("numbers equal names of an account, each once, and leaves those of others and of owners", async () => {
  const request = context({});
  const { write, read } = runtime.database;
  const [ada, grace] = [await insertUser(runtime), await insertUser(runtime)];
  const add = async (userId: string, name: string | null) => {
    const id = randomUUID();
    const credential = {
      id,
      publicKey: "AA",
      signCount: 0,
      aaguid: randomUUID(),
      attestationType: "none",
      transports: [],
      backupEligible: true,
      backupState: true,
      userVerified: true,
      mfaOnly: false,
      name,
    };
    await write.transaction(insertCredential(request, userId, credential));
    return id;
  };
  const namesOf = async (userId: string) => {
    const { webauthnCredentials: table } = schema;
    const rows = await read.select().from(table).where(eq(table.userId, userId)).orderBy(asc(table.name));
    return rows.map(({ name }) => name);
  };
  await add(ada, "1Password");
  const second = await add(ada, "1Password");
  await add(ada, "1Password");
  await add(ada, null);
  await add(grace, "1Password");
  expect(await namesOf(ada)).toEqual(["1Password", "1Password 2", "1Password 3", null]);
  expect(await namesOf(grace)).toEqual(["1Password"]);
  await write.transaction(renameCredential(request, ada, { id: second, name: "1Password" }));
  await add(ada, "1Password");
  expect(await namesOf(ada)).toEqual(["1Password", "1Password", "1Password 2", "1Password 3", null]);
});
