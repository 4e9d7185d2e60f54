import { expect, test } from "vitest";
import { languageTags } from "#words/language-tags";
import { textPaths } from "#words/own-texts";
import { mailMessages } from "../../mail/messages.ts";
import { smsPurposes } from "../../sms/sms-job.ts";
import { createTenant, updateTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);
const own = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }),
);

test("lists the texts that can be replaced by path, with the tenant's own", async () => {
  await updateTenant(runtime, own.tenant.id, {
    settings: () => ({ words: { de: { "states.login_init.title": "Willkommen" } } }),
  });
  const { body } = await own.call("GET", "/texts?language=de&prefix=states.login_init.");
  expect(body).toContainEqual({ path: "states.login_init.title", text: "Anmelden", own: "Willkommen" });
  expect(body.every(({ path }: { path: string }) => path.startsWith("states.login_init."))).toBe(true);
  const { body: all } = await own.call("GET", "/texts");
  expect(all.map(({ path }: { path: string }) => path)).toEqual(textPaths);
  expect(all.every((text: { own: string | null }) => text.own === null)).toBe(true);
});

const messages = (body: object, as = own) => as.call("POST", "/messages/previews", body);

test("writes every mail and SMS in each language, with the name and the words of the tenant", async () => {
  for (const language of languageTags) {
    const { body } = await messages({ language });
    const kinds = new Set(body.map(({ channel, kind }: Record<string, string>) => `${channel} ${kind}`));
    expect(kinds).toEqual(
      new Set([
        ...Object.keys(mailMessages).map((kind) => `mail ${kind}`),
        ...smsPurposes.map((kind) => `sms ${kind}`),
      ]),
    );
    // Examples of one message are told apart.
    const examples = body.map(({ channel, kind, example }: Record<string, string>) =>
      [channel, kind, example].join(),
    );
    expect(new Set(examples).size).toBe(body.length);
    for (const { text, html } of body) {
      expect(text).toContain("Acme");
      if (html !== null) expect(html).toContain(`<html lang="${language}"`);
    }
  }
  const config = {
    service: { name: "Acme Stores" },
    words: { en: { "mail.secrecy": "Keep it to yourself." } },
  };
  const { body } = await messages({ config }, operator);
  const login = body.find(({ kind }: { kind: string }) => kind === "login");
  expect(login.text).toContain("Acme Stores");
  expect(login.html).toContain("Keep it to yourself.");
  const names = body.filter(({ kind }: { kind: string }) => kind === "mfa_create");
  expect(names.map(({ example }: { example: string }) => example)).toContain("security_key");
  expect((await messages({ kind: "mfa_create" })).body).toHaveLength(names.length);
});
