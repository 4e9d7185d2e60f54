import { and, eq, gt, inArray, sql } from "drizzle-orm";
import { z } from "zod";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { sealContext } from "#db/schema/table";
import type { Tenant } from "../config/tenant.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { providerFacts } from "../thirdparty/provider-facts.ts";

/**
 * Test sign-ins at identity providers: from the console to the host of the tenant, to the provider, and back with a result that only
 * the session of the console sees which began the test. Each step can be taken once.
 */

const { providerTests } = schema;

type Process = Databases & Sealing & OnPlatform;

/** How long a test takes, and how long its result is kept. */
export const PROVIDER_TEST_SECONDS = 600;

/** What came of a test. */
export const testResult = z.strictObject({
  outcome: z
    .enum(["accepted", "refused", "failed"])
    .describe(
      "`refused`: the provider's answer is accepted, but no account would be signed in; `failed`: the answer is not accepted.",
    ),
  reason: z.string().nullable().describe("Of a refusal or a failure; as in the audit log."),
  detail: z.string().nullable(),
  message: z.string().describe("What would become of the sign-in, in one sentence."),
  notes: z.array(z.string()).describe("What would be asked for further, a sentence each."),
  decision: z.enum(["sign_in", "link", "sign_up"]).nullable(),
  user: z
    .strictObject({ id: z.guid(), email: z.string().nullable() })
    .nullable()
    .describe("The account that would be signed in or linked."),
  facts: providerFacts.nullable().describe("What this service would know of the user."),
  mapping: z
    .array(z.strictObject({ fact: z.string(), from: z.string(), value: z.string().nullable() }))
    .describe("The claim or attribute that each fact is read from."),
  received: z
    .array(
      z.strictObject({
        source: z.enum(["id_token", "userinfo", "api", "assertion"]),
        claims: z.array(z.strictObject({ name: z.string(), value: z.string() })),
      }),
    )
    .describe("What the provider stated, as JSON. Long values are shortened."),
});

export type TestResult = z.output<typeof testResult>;

/** A test as it is shown. */
export interface ShownTest {
  id: string;
  provider: string;
  state: "begun" | "opened" | "sent" | "ended";
  expiresAt: Date;
  result: TestResult | null;
}

const shown = {
  id: providerTests.id,
  provider: providerTests.provider,
  state: providerTests.state,
  expiresAt: providerTests.expiresAt,
};

const contextOf = (tenantId: string, id: string) =>
  sealContext(providerTests, "sealedResult", { tenantId, id });

/** Begins a test, in place of one that the session of the console has begun before. */
export async function beginProviderTest(
  { database, platform }: Process,
  tenantId: string,
  { provider, consoleSessionId }: { provider: string; consoleSessionId: string },
): Promise<ShownTest> {
  const now = databaseNow(platform.clockShift());
  const begun = {
    id: platform.uuid(),
    provider,
    state: "begun" as const,
    ticketHash: null,
    sealedResult: null,
  };
  const times = {
    createdAt: sql`${now}`,
    expiresAt: sql`${now} + ${PROVIDER_TEST_SECONDS}::int * interval '1 second'`,
  };
  const [stored] = await database.write
    .insert(providerTests)
    .values({ tenantId, consoleSessionId, ...begun, ...times })
    .onConflictDoUpdate({
      target: [providerTests.tenantId, providerTests.consoleSessionId],
      set: { ...begun, createdAt: sql`excluded.created_at`, expiresAt: sql`excluded.expires_at` },
    })
    .returning(shown);
  if (!stored) throw new Error("the test was not stored");
  return { ...stored, result: null };
}

const isLive = ({ platform }: OnPlatform) => gt(providerTests.expiresAt, databaseNow(platform.clockShift()));

/** What starts a test at the host of the tenant, once. It has two halves, so that one of them can be bound to a browser. */
export interface TestTicket {
  /** In the address of the page. */
  named: string;
  /** In a cookie, where the console and the tenant have one host. */
  bound: string;
}

const ticketHash = ({ named, bound }: TestTicket) => sha256(`${named}.${bound}`);

/**
 * Opens a test in the browser of the session that began it.
 *
 * @returns the tenant of the test, and its ticket; null if it is not of this session, was opened before or has expired
 */
export async function openProviderTest(
  runtime: Process,
  { id, consoleSessionId }: { id: string; consoleSessionId: string },
): Promise<{ tenantId: string; ticket: TestTicket } | null> {
  const ticket = { named: randomToken(runtime.platform), bound: randomToken(runtime.platform) };
  const [opened] = await runtime.database.write
    .update(providerTests)
    .set({ state: "opened", ticketHash: ticketHash(ticket) })
    .where(
      and(
        eq(providerTests.id, id),
        eq(providerTests.consoleSessionId, consoleSessionId),
        eq(providerTests.state, "begun"),
        isLive(runtime),
      ),
    )
    .returning({ tenantId: providerTests.tenantId });
  return opened ? { tenantId: opened.tenantId, ticket } : null;
}

/**
 * Takes the ticket of a test.
 *
 * @param tickets one; several if the browser holds several halves of it
 * @returns the test; null if the ticket was taken before or is unknown
 */
export async function takeTestTicket(
  runtime: Process,
  { id: tenantId }: Tenant,
  tickets: readonly TestTicket[],
): Promise<Pick<ShownTest, "id" | "provider"> | null> {
  const [taken] = await runtime.database.write
    .update(providerTests)
    .set({ state: "sent", ticketHash: null })
    .where(
      and(
        eq(providerTests.tenantId, tenantId),
        inArray(providerTests.ticketHash, tickets.map(ticketHash)),
        eq(providerTests.state, "opened"),
        isLive(runtime),
      ),
    )
    .returning(shown);
  return taken ?? null;
}

/** Stores what came of a test. A second result changes nothing. */
export async function endProviderTest(
  runtime: Process,
  { id: tenantId }: Tenant,
  id: string,
  result: TestResult,
): Promise<void> {
  const { database, vault } = runtime;
  const sealedResult = vault.seal(Buffer.from(JSON.stringify(result)), contextOf(tenantId, id));
  await database.write
    .update(providerTests)
    .set({ state: "ended", sealedResult })
    .where(
      and(
        eq(providerTests.tenantId, tenantId),
        eq(providerTests.id, id),
        eq(providerTests.state, "sent"),
        isLive(runtime),
      ),
    );
}

/** Shows a test to the session of the console that began it; null to any other one. */
export async function showProviderTest(
  runtime: Process,
  tenantId: string,
  { id, consoleSessionId }: { id: string; consoleSessionId: string },
): Promise<ShownTest | null> {
  const [found] = await runtime.database.read
    .select({ ...shown, sealedResult: providerTests.sealedResult })
    .from(providerTests)
    .where(
      and(
        eq(providerTests.tenantId, tenantId),
        eq(providerTests.id, id),
        eq(providerTests.consoleSessionId, consoleSessionId),
        isLive(runtime),
      ),
    );
  if (!found) return null;
  const { sealedResult, ...test } = found;
  const plain = sealedResult && runtime.vault.unseal(sealedResult, contextOf(tenantId, id)).toString();
  return { ...test, result: plain === null ? null : testResult.parse(JSON.parse(plain)) };
}
