import type { Page } from "@playwright/test";
import { type SamlProviderServer, startSamlProvider } from "../server/testing/saml-provider-server.ts";
import { test as base, expect } from "./fixtures.ts";
import { button, emailField, enterCode, expectPage, openLogin } from "./steps.ts";

/** A SAML identity provider beside the server, for users with an address at near.example. */
const test = base.extend<object, { near: SamlProviderServer }>({
  near: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const near = await startSamlProvider();
      await use(near);
      await near.close();
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ near }, use) => {
      const provider = {
        name: "Near",
        domains: ["near.example"],
        metadata_url: near.metadataUrl,
        allow_idp_initiated: true,
        attribute_map: { email: "mail" },
      };
      await use({
        STILE_SAML_ENABLED: "true",
        STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([provider]),
      });
    },
    { scope: "worker" },
  ],
});

/** A user of that provider. */
function employee(): { email: string; nameId: string; attributes: Record<string, string> } {
  const nameId = crypto.randomUUID();
  const email = `${nameId}@near.example`;
  return { email, nameId, attributes: { mail: email } };
}

async function whoIs(page: Page): Promise<string> {
  const me = await (await page.request.get("/me")).json();
  return me.emails[0].address;
}

test("an address leads to the provider of its domain, and back", async ({ page, near, mailbox }) => {
  const { email, ...person } = employee();
  near.person = person;
  await openLogin(page);
  await emailField(page).fill(email);
  const asked = mailbox.messages.length;
  await button(page, "Continue").click();
  // The provider is not trusted to verify addresses.
  await expectPage(page, "code");
  await enterCode(page, await mailbox.codeFor(email, asked));
  await expectPage(page, "success");
  expect(await whoIs(page)).toBe(email);
  expect(new URL(page.url()).search).toBe("");
});

test("a provider may initiate a sign-in", async ({ page, near, server, mailbox }) => {
  const { email, ...person } = employee();
  const consumerUrl = `${server.url}/saml/callback`;
  const answer = await near.answer({ consumerUrl, audience: server.url, ...person });
  const asked = mailbox.messages.length;
  await page.setContent(
    `<form method="post" action="${consumerUrl}"><input type="hidden" name="SAMLResponse" value="${answer}"><button>Stile</button></form>`,
  );
  await button(page, "Stile").click();
  await expectPage(page, "code");
  await enterCode(page, await mailbox.codeFor(email, asked));
  await expectPage(page, "success");
  expect(await whoIs(page)).toBe(email);
});
