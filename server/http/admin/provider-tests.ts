import { z } from "zod";
import { triedProvider } from "../../admin/provider-test-outcome.ts";
import {
  beginProviderTest,
  type ShownTest,
  showProviderTest,
  testResult,
} from "../../admin/provider-tests.ts";
import { rejectAdmin } from "../../admin/rejections.ts";
import { consoleOrigin } from "../../console/place.ts";
import { existingTenant } from "../../tenants/manage-tenants.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { tenantOperation, tenantPlaces } from "./tenants.ts";

const testObject = z
  .strictObject({
    id: z.guid(),
    provider_id: z.string(),
    state: z
      .enum(["begun", "opened", "sent", "ended"])
      .describe("`opened`: in a browser; `sent`: to the provider; `ended`: there is a result."),
    url: z.string().describe("Where the browser of the session begins, once."),
    expires_at: z.iso.datetime({ precision: 3 }).describe("The result is deleted then."),
    result: testResult.nullable(),
  })
  .meta({ id: "ProviderTest" });

const shownTest = ({ runtime }: HandlerContext, { id, provider, state, expiresAt, result }: ShownTest) => ({
  id,
  provider_id: provider,
  state,
  url: `${consoleOrigin(runtime.config)}/api/console/provider-test/${id}`,
  expires_at: expiresAt.toISOString(),
  result,
});

const TEST =
  "A sign-in at the provider that signs no user in and writes no account: its result is what would have become of it, decided as that of a real one. It belongs to the session of the console that begins it, and is kept for ten minutes.";

const FOR_CONSOLE = "A test sign-in needs a session of the console.";

const testAnswers = { 201: { schema: testObject }, 403: FOR_CONSOLE };

async function begunTest(context: HandlerContext, tenantId: string, providerId: string) {
  const { runtime, visitor } = context;
  if (!visitor) return rejectAdmin("forbidden", FOR_CONSOLE);
  const { tenant } = await existingTenant(runtime, tenantId);
  if (!tenant || !triedProvider(tenant, providerId)) return null;
  const about = { provider: providerId, consoleSessionId: visitor.consoleSessionId };
  return shownTest(context, await beginProviderTest(runtime, tenantId, about));
}

/** Test sign-ins at providers of tenants. */
export const providerTestAddresses = tenantPlaces.flatMap(({ prefix, suffix, of }) => [
  tenantOperation(`POST ${prefix}/oauth/providers/{provider_id}/test`, {
    id: `beginOAuthProviderTest${suffix}`,
    // It makes this server send requests.
    roleAtDefaultTenant: "operator",
    summary: `Begin a test sign-in at an OAuth provider of ${of}`,
    description: TEST,
    params: { provider_id: z.string().max(39) },
    answers: testAnswers,
    perform: (tenantId, context, { params }) => begunTest(context, tenantId, params.provider_id),
  }),
  tenantOperation(`POST ${prefix}/saml/providers/{provider_id}/test`, {
    id: `beginSamlProviderTest${suffix}`,
    // It makes this server send requests.
    roleAtDefaultTenant: "operator",
    summary: `Begin a test sign-in at a SAML provider of ${of}`,
    description: TEST,
    answers: testAnswers,
    perform: (tenantId, context, { params }) => begunTest(context, tenantId, params.provider_id),
  }),
  tenantOperation(`GET ${prefix}/provider_tests/{test_id}`, {
    id: `getProviderTest${suffix}`,
    // Claims of a person at the provider.
    role: "administrator",
    summary: `Get the result of a test sign-in at a provider of ${of}`,
    description: "Only for the session of the console that began it.",
    answers: { 200: { schema: testObject } },
    async perform(tenantId, context, { params }) {
      const { runtime, visitor } = context;
      const { test_id: id } = params as { test_id: string };
      const about = visitor && { id, consoleSessionId: visitor.consoleSessionId };
      const found = about && (await showProviderTest(runtime, tenantId, about));
      return found && shownTest(context, found);
    },
  }),
]);
