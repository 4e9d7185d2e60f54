import type { Page } from "@playwright/test";
import { type OidcProvider, startOidcProvider } from "../server/testing/oidc-provider.ts";
import { test as base, expect } from "./fixtures.ts";
import { openReverseProxy, type ReverseProxy } from "./reverse-proxy.ts";
import { button } from "./steps.ts";

/** A real OpenID Connect provider beside the server. */
export const test = base.extend<object, { reverseProxy: ReverseProxy; acme: OidcProvider }>({
  reverseProxy: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const reverseProxy = await openReverseProxy();
      await use(reverseProxy);
      await reverseProxy.close();
    },
    { scope: "worker" },
  ],
  acme: [
    async ({ reverseProxy }, use) => {
      const acme = await startOidcProvider(
        [`${reverseProxy.url}/thirdparty/callback`],
        [`${reverseProxy.url}/thirdparty/logout`],
      );
      await use(acme);
      await acme.close();
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ reverseProxy, acme }, use) => use({ BASE_URL: reverseProxy.url, ...acme.settings }),
    { scope: "worker" },
  ],
  server: [
    async ({ server, reverseProxy }, use) => {
      reverseProxy.setTarget(server.url);
      await use({ ...server, url: reverseProxy.url });
    },
    { scope: "worker" },
  ],
  pageErrors: async ({ pageErrors }, use) => {
    // The provider has no favicon.
    pageErrors.expect(/127\.0\.0\.1:\d+\/favicon\.ico/);
    await use(pageErrors);
  },
});

/** Steps at the provider's own page. */
export async function signInAtAcme(page: Page, name: string): Promise<void> {
  await expect(page.getByRole("heading", { name: "Acme" })).toBeVisible();
  await page.getByLabel("Account").fill(name);
  await button(page, "Sign in at Acme").click();
}
