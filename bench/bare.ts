import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";

/**
 * The baseline of the benchmark: a server on bare `node:http` whose handlers do only the same database work, without a
 * framework. It runs in its own process; the arguments are the database URL, a tenant id and a session id.
 *
 * GET / responds; POST /start inserts a flow; POST /step claims it by its token and writes it with a new one.
 * `?action=named@…` also looks up the account of an address, `?action=challenge@…` also writes a WebAuthn
 * challenge; GET /session looks up a session.
 */
const [, , databaseUrl, tenantId = "", sessionId = ""] = process.argv;
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const claims = new pg.Pool({ connectionString: databaseUrl, max: 10, options: "-c synchronous_commit=off" });

const instance = randomUUID();
const data = JSON.stringify({
  capabilities: { webauthn: false, conditionalMediation: false, platformAuthenticator: false },
});

const statements = {
  start: `insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
    values ($1, $2, 'bench', 'login_init', 0, $3, $4, $5, '[]', '{}', clock_timestamp() + interval '1 hour')`,
  claim: `with flow as (
      update flows set claim = $1, claimed_by = $2, claimed_until = clock_timestamp() + interval '15 seconds'
      where tenant_id = $3 and id = $4 and token_hash = $5 and finished_at is null and expires_at >= clock_timestamp()
        and (claimed_until is null or claimed_until < clock_timestamp())
      returning *)
    select *, clock_timestamp() as now
    from flow left join user_facts person on person.tenant_id = flow.tenant_id and person.user_id = flow.user_id`,
  lookUp: `select person.* from emails
    join user_facts person on person.tenant_id = emails.tenant_id and person.user_id = emails.user_id
    where emails.tenant_id = $1 and emails.address = $2`,
  save: `update flows set state = 'login_init', version = version + 1, token_hash = $1, data = $2, history = '[]', payload = '{}',
      problem = null, claim = null, claimed_by = null, claimed_until = null
    where tenant_id = $3 and id = $4 and claim = $5 and token_hash = $6`,
  challenge: `with saved as (
      update flows set state = 'login_init', version = version + 1, token_hash = $1, data = $2, history = '[]', payload = '{}',
        problem = null, claim = null, claimed_by = null, claimed_until = null
      where tenant_id = $3 and id = $4 and claim = $5 and token_hash = $6 returning 1)
    insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
    select $3, $7, $4, 'request', $8, clock_timestamp() + interval '5 minutes' from saved`,
  session: "select * from sessions where tenant_id = $1 and id = $2 and expires_at > clock_timestamp()",
};

const digest = (token: string) => createHash("sha256").update(token).digest();

async function body(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

const shown = (id: string, token: string) => ({
  name: "login_init",
  status: 200,
  payload: {},
  csrf_token: token,
  actions: { step: { action: "step", href: `/step?action=step%40${id}`, description: "Go on.", inputs: {} } },
  links: null,
});

async function start(): Promise<object> {
  const [id, token] = [randomUUID(), randomBytes(24).toString("base64url")];
  await pool.query({
    name: "start",
    text: statements.start,
    values: [tenantId, id, digest(token), digest(id), data],
  });
  return shown(id, token);
}

async function step(request: IncomingMessage, work: "step" | "named" | "challenge"): Promise<object> {
  const id = (request.url ?? "").slice(-36);
  const { csrf_token } = JSON.parse(await body(request)) as { csrf_token: string };
  const [claim, old, token] = [randomUUID(), digest(csrf_token), randomBytes(24).toString("base64url")];
  const claimed = await claims.query({
    name: "claim",
    text: statements.claim,
    values: [claim, instance, tenantId, id, old],
  });
  if (claimed.rows.length !== 1) throw new Error("the token is stale");
  if (work === "named") {
    await pool.query({ name: "named", text: statements.lookUp, values: [tenantId, "unknown@example.com"] });
  }
  const values = [digest(token), data, tenantId, id, claim, old];
  const saved = await pool.query(
    work === "challenge"
      ? {
          name: "challenge",
          text: statements.challenge,
          values: [...values, randomUUID(), randomBytes(32).toString("base64url")],
        }
      : { name: "save", text: statements.save, values },
  );
  if (saved.rowCount !== 1) throw new Error("the claim was lost");
  return shown(id, token);
}

async function session(): Promise<object> {
  const found = await pool.query({
    name: "session",
    text: statements.session,
    values: [tenantId, sessionId],
  });
  return { is_valid: found.rows.length === 1 };
}

const server = createServer(async (request, response) => {
  try {
    const { url = "/" } = request;
    const [, work] = /^\/step\?action=(step|named|challenge)%40/.exec(url) ?? [];
    const answer = work
      ? await step(request, work as Parameters<typeof step>[1])
      : url === "/start"
        ? await start()
        : url === "/session"
          ? await session()
          : { alive: true };
    const text = JSON.stringify(answer);
    response
      .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
      .end(text);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit(0));
