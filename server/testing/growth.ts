import { getTableName } from "drizzle-orm";
import type { ClientBase } from "pg";
import { rulesOf } from "#db/schema/table";
import { type TableName, tables } from "#db/tables";

/** How many rows a database gets. */
export interface Growth {
  /** Accounts, with their addresses, passwords, passkeys, identities, second factors and trusted browsers. */
  users: number;
  flows: number;
  sessions: number;
  auditEntries: number;
  /** Rows of each other growing table: codes, counters, events, rows of the passkey server and of authenticators. */
  others: number;
}

interface Rows {
  count(growth: Growth): number;
  /** Column → SQL expression of the row's number `i`, which counts from 1; `tenant_id` is that of the tenant. */
  row: Record<string, string>;
}

/** A UUID of version 4 that depends on a name and a number alone, as random as those of real rows. */
const id = (name: string, number = "i") =>
  `overlay(overlay(md5('${name} ' || ${number}) placing '4' from 13) placing 'a' from 17)::uuid`;

/** 32 bytes, as of a SHA-256. */
const digest = (name: string, number = "i") => `sha256(('${name} ' || ${number})::bytea)`;

/** A sealed value that opens by no key, with the name of the server's key: a start checks that it has it. */
const sealed = (name: string) => `'\\x01'::bytea || $KEY || ${digest(name)} || ${digest(`more ${name}`)}`;

/** The id of a credential: base64url of 32 bytes. */
const credentialId = (name: string) => `translate(rtrim(encode(${digest(name)}, 'base64'), '='), '+/', '-_')`;

/** Times from the past to now, in the order of the rows. */
const recently = (count: string, interval: string) =>
  `now() - interval '${interval}' * (1 - i / ${count}::float8)`;

/** A public key in COSE form is 77 bytes long. */
const publicKey = `${digest("x")} || ${digest("y")} || substr(${digest("z")}, 1, 13)`;

const userHandle = `${digest("handle")} || ${digest("more handle")}`;

const browser =
  "'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'";
const address = "'203.0.' || i % 250 || '.' || i / 250 % 250";
const user = id("user", "(i % $USERS + 1)");

const credential = (name: string, key = publicKey) => ({
  id: credentialId(name),
  public_key: key,
  sign_count: "i % 100",
  aaguid: id("make", "i % 20"),
  attestation_type: "'none'",
  transports: "'{internal,hybrid}'",
  backup_eligible: "true",
  backup_state: "true",
  user_verified: "true",
  created_at: "now()",
  last_used_at: "now()",
});

/** The rows of every growing table, and of others that they refer to. */
const rowsOf: Record<Exclude<TableName, TableName<{ grows: false }>> | "webhooks", Rows[]> = {
  users: [
    {
      count: ({ users }) => users,
      row: {
        id: id("user"),
        name: "'Person ' || i",
        language: "'en'",
        public_metadata: `jsonb_build_object('number', i)`,
        created_at: recently("$COUNT", "900 days"),
      },
    },
  ],
  emails: [
    {
      count: ({ users }) => users,
      row: {
        id: id("email"),
        user_id: id("user"),
        address: "'person' || i || '@example.com'",
        is_primary: "true",
        verified_at: "case when i % 10 > 0 then now() end",
      },
    },
    {
      count: ({ users }) => Math.ceil(users / 10),
      row: {
        id: id("second email"),
        user_id: id("user"),
        address: "'person' || i || '@example.org'",
        is_primary: "false",
        verified_at: "now()",
      },
    },
  ],
  usernames: [
    {
      count: ({ users }) => Math.ceil(users / 3),
      row: { id: id("username"), user_id: id("user"), username: "'person_' || i" },
    },
  ],
  phone_numbers: [
    {
      count: ({ users }) => Math.ceil(users / 3),
      row: {
        id: id("phone number"),
        user_id: id("user"),
        number: "'+49151' || lpad(i::text, 8, '0')",
        verified_at: "case when i % 10 > 0 then now() end",
      },
    },
  ],
  passwords: [{ count: ({ users }) => users, row: { user_id: id("user"), hash: "$HASH" } }],
  webauthn_credentials: [
    {
      count: ({ users }) => Math.ceil(users / 2),
      row: {
        ...credential("passkey", `coalesce($PASSKEY, ${publicKey})`),
        // Passkeys that are synchronised do not count.
        sign_count: "0",
        user_id: id("user"),
        user_handle: userHandle,
        mfa_only: "i % 10 = 0",
      },
    },
  ],
  user_handles: [
    {
      count: ({ users }) => Math.ceil(users / 2),
      row: {
        user_id: id("user"),
        handle: userHandle,
        // Of registrations that are under way.
        expires_at: "case when i % 20 = 0 then now() + interval '1 hour' end",
      },
    },
  ],
  totp_secrets: [
    {
      count: ({ users }) => Math.ceil(users / 5),
      row: {
        user_id: id("user"),
        sealed_secret: sealed("totp"),
        last_step: "58000000",
      },
    },
  ],
  recovery_codes: [
    {
      count: ({ users }) => users,
      row: { user_id: id("user", "(i / 10 + 1)"), code_hash: digest("recovery code") },
    },
  ],
  trusted_devices: [
    {
      count: ({ users }) => Math.ceil(users / 5),
      row: {
        id: id("browser"),
        user_id: id("user"),
        token_hash: digest("browser"),
        user_agent: browser,
        ip_address: address,
        expires_at: "now() + interval '1 minute' * i",
      },
    },
  ],
  identities: [
    {
      count: ({ users }) => Math.ceil(users / 4),
      row: {
        id: id("identity"),
        user_id: id("user"),
        provider: "case when i % 3 = 0 then 'apple' else 'google' end",
        subject: "(100000000000000000000 + i)::text",
        email: "'person' || i || '@example.com'",
      },
    },
  ],
  user_pictures: [
    {
      count: ({ users }) => Math.ceil(users / 20),
      row: { user_id: id("user"), id: id("picture"), data: digest("picture") },
    },
  ],
  sessions: [
    {
      count: ({ sessions }) => sessions,
      row: {
        id: id("session"),
        user_id: user,
        authenticated_at: recently("$COUNT", "29 days"),
        factors: `jsonb_build_array(jsonb_build_object('at', now(), 'method', 'password'))`,
        amr: "'{pwd}'",
        ip_address: address,
        user_agent: browser,
        created_at: recently("$COUNT", "29 days"),
        last_used_at: "now()",
        // None expires while rows are written: a purge would take it from under the rows that name it.
        expires_at: `${recently("$COUNT", "29 days")} + interval '30 days'`,
      },
    },
  ],
  flows: [
    {
      count: ({ flows }) => flows,
      row: {
        id: id("flow"),
        type: "'login'",
        state: "(array['login_init', 'login_password', 'passcode_confirmation', 'success'])[i % 4 + 1]",
        version: "i % 6 + 1",
        token_hash: digest("flow"),
        resume_hash: digest("resume"),
        user_id: `case when i % 4 > 0 then ${user} end`,
        data: `jsonb_build_object('client', jsonb_build_object('userAgent', ${browser}), 'factors', '[]'::jsonb, 'completed', '["preflight"]'::jsonb, 'identifier', 'person' || i || '@example.com')`,
        history: `'["preflight", "login_init"]'`,
        payload: "'{}'",
        created_at: recently("$COUNT", "24 hours"),
        expires_at: `${recently("$COUNT", "24 hours")} + interval '$FLOW_LIFETIME'`,
        finished_at: "case when i % 4 = 3 then now() end",
        session_id: `case when i % 4 = 3 then ${id("session")} end`,
      },
    },
  ],
  recorded_flows: [
    {
      count: ({ others }) => others,
      row: {
        id: id("recorded flow"),
        type: "'login'",
        support_number:
          "translate(left(md5('recorded flow ' || i), 8), '0123456789abcdef', 'BCDFGHJKMNPRTVWX')",
        user_id: `case when i % 4 > 0 then ${user} end`,
        state: "(array['login_init', 'login_password', 'passcode_confirmation', 'success'])[i % 4 + 1]",
        outcome: "(array['under_way', 'rejected', 'under_way', 'completed'])[i % 4 + 1]",
        steps: "4",
        started_at: recently("$COUNT", "6 days"),
        last_step_at: recently("$COUNT", "6 days"),
        expires_at: `${recently("$COUNT", "6 days")} + interval '7 days'`,
      },
    },
  ],
  recorded_steps: [
    {
      count: ({ others }) => others,
      row: {
        flow_id: id("recorded flow"),
        id: id("recorded step"),
        at: recently("$COUNT", "6 days"),
        from_state: "'login_init'",
        action: "'continue_with_login_identifier'",
        verdict: "'performed'",
        state: "'login_password'",
        milliseconds: "i % 40",
        database_ms: "i % 20",
        hash_ms: "0",
        provider_ms: "0",
        statements: "2",
        in_state_ms: "i % 10000",
        request_id: `${id("request")}::text`,
        source: "'203.0.113.0'",
        platform: "'Linux'",
        browser: "'Chrome'",
        embedding: "'page'",
        capabilities: "'webauthn'",
        inputs: `'[["email", "string", 20]]'`,
        not_offered: digest("reasons"),
        decided_by: digest("skeleton"),
        expires_at: `${recently("$COUNT", "6 days")} + interval '7 days'`,
      },
    },
  ],
  recorded_settings: [
    {
      count: ({ others }) => others,
      row: {
        digest: digest("recorded settings"),
        settings: digest("settings"),
        expires_at: `${recently("$COUNT", "6 days")} + interval '8 days'`,
      },
    },
  ],
  audit_logs: [
    {
      count: ({ auditEntries }) => auditEntries,
      row: {
        id: id("entry"),
        type: "(array['login_success', 'login_success', 'login_failure', 'session_revoked', 'user_created', 'passkey_created', 'webauthn_authentication_init_succeeded', 'webauthn_authentication_final_succeeded'])[i % 8 + 1]",
        user_id: `case when i % 8 < 6 then ${user} end`,
        request_id: `${id("request")}::text`,
        ip_address: address,
        user_agent: browser,
        details: `case when i % 8 < 6 then jsonb_build_object('methods', array['password'])
        else jsonb_build_object('actor_user_id', 'customer-' || i % $USERS) end`,
        created_at: recently("$COUNT", "360 days"),
      },
    },
  ],
  passcodes: [
    {
      count: ({ others }) => others,
      row: {
        flow_id: id("flow"),
        purpose: "'login'",
        recipient: digest("recipient"),
        code_hash: digest("code"),
        expires_at: recently("$COUNT", "24 hours"),
      },
    },
  ],
  webauthn_challenges: [
    {
      count: ({ others }) => others,
      row: {
        id: id("challenge"),
        flow_id: id("flow"),
        ceremony: "'get'",
        challenge: credentialId("challenge"),
        expires_at: "now() + interval '1 hour'",
      },
    },
  ],
  third_party_requests: [
    {
      count: ({ others }) => others,
      row: {
        state_hash: digest("state"),
        flow_id: id("flow"),
        provider: "'google'",
        sealed: sealed("session at a provider"),
        redirect_to: "'https://shop.test/back'",
        expires_at: "now() + interval '1 hour'",
      },
    },
  ],
  exchange_tokens: [
    {
      count: ({ others }) => others,
      row: {
        token_hash: digest("token"),
        flow_id: id("flow"),
        sealed: sealed("session at a provider"),
        expires_at: "now() + interval '1 hour'",
      },
    },
  ],
  seen_assertions: [
    {
      count: ({ others }) => others,
      row: { id_hash: digest("assertion"), expires_at: "now() + interval '1 hour'" },
    },
  ],
  handover_codes: [
    {
      count: ({ others, sessions }) => Math.min(others, sessions),
      row: {
        code_hash: digest("authorization code"),
        session_id: id("session"),
        code_challenge: credentialId("verifier"),
        redirect_to: "'https://shop.test/back'",
        expires_at: "now() + interval '1 minute'",
      },
    },
  ],
  openid_artifacts: [
    {
      count: ({ others, sessions }) => Math.min(others, sessions),
      row: {
        kind: "(array['RefreshToken', 'AccessToken', 'Grant', 'Session'])[i % 4 + 1]",
        id_hash: credentialId("artifact"),
        payload: sealed("artifact"),
        grant_hash: credentialId("grant"),
        user_id: user,
        client_id: "'shop'",
        session_id: id("session"),
        expires_at: "now() + interval '14 days'",
      },
    },
  ],
  openid_sign_ins: [
    {
      count: ({ others, sessions }) => Math.min(others, sessions),
      row: {
        client_id: "'shop'",
        sid: credentialId("sid"),
        session_id: id("session"),
        user_id: user,
      },
    },
  ],
  provider_sessions: [
    {
      count: ({ others, sessions }) => Math.min(others, sessions),
      row: {
        id: id("provider session"),
        provider: "'saml:https://idp.test/'",
        session_id: id("session"),
        name_id_hash: digest("name id"),
        sealed: sealed("session at a provider"),
      },
    },
  ],
  console_grants: [
    { count: ({ others, users }) => Math.min(others, users), row: { user_id: user, role: "'auditor'" } },
  ],
  console_sessions: [
    {
      count: ({ others, sessions }) => Math.min(others, sessions),
      row: {
        id: id("console session"),
        session_id: id("session"),
        token_hash: digest("console token"),
        last_used_at: "now()",
        expires_at: "now() + interval '1 hour'",
      },
    },
  ],
  openid_consents: [
    {
      count: ({ others }) => others,
      row: {
        user_id: user,
        client_id: "'reader'",
        allowed: `'{"scopes":["openid","email"],"claims":[],"resources":{}}'`,
      },
    },
  ],
  failures: [
    {
      count: ({ others }) => others,
      row: {
        method: "(array['password', 'passcode', 'otp'])[i % 3 + 1]",
        subject: digest("subject"),
        source: "(array['', 'known', '*'])[i % 3 + 1]",
        consecutive: "i % 4",
        window_started_at: "now()",
        window_count: "1",
        last_at: recently("$COUNT", "2 days"),
      },
    },
  ],
  events: [
    {
      count: ({ others }) => others,
      row: {
        id: id("event"),
        name: "(array['user.login', 'user.create', 'session.create.flow'])[i % 3 + 1]",
        subject_id: `${user}::text`,
        flow_id: id("flow"),
        data: `case when i % 20 > 0 then jsonb_build_object('id', ${user}) end`,
        sealed_data: `case when i % 20 = 0 then ${sealed("data")} end`,
        created_at: recently("$COUNT", "30 days"),
      },
    },
  ],
  webhooks: [
    {
      count: () => 5,
      row: {
        id: id("webhook"),
        callback: "'https://shop.test/hooks'",
        enabled: "false",
        events: "'[]'",
        sealed_secret: sealed("secret"),
        expires_at: "now() + interval '30 days'",
      },
    },
  ],
  webhook_deliveries: [
    {
      count: ({ others }) => others,
      row: {
        id: id("delivery"),
        webhook: `${id("webhook", "(i % 5 + 1)")}::text`,
        event_id: id("event"),
        sequence: "i",
        subject_id: `${user}::text`,
        state: "(array['waiting', 'failed', 'delivered'])[least(i % 50, 2) + 1]",
        attempts: "1",
        finished_at: "now()",
        created_at: recently("$COUNT", "30 days"),
      },
    },
  ],
  webhook_attempts: [
    {
      count: ({ others }) => others,
      row: {
        delivery_id: id("delivery"),
        number: "1",
        at: recently("$COUNT", "30 days"),
        duration_ms: "40",
        status: "204",
      },
    },
  ],
  passkey_users: [
    {
      count: ({ others }) => others,
      row: {
        id: id("passkey user"),
        user_id: "'customer-' || i",
        name: "'customer-' || i",
        display_name: "'Customer ' || i",
      },
    },
  ],
  passkey_credentials: [
    {
      count: ({ others }) => others,
      row: { ...credential("passkey credential"), user_id: id("passkey user"), is_mfa: "false" },
    },
  ],
  passkey_transactions: [
    {
      count: ({ others }) => others,
      row: {
        id: id("transaction"),
        user_id: id("passkey user"),
        identifier: "'payment-' || i",
        data: `'{"amount":"12.00"}'`,
        challenge: credentialId("transaction"),
      },
    },
  ],
  passkey_challenges: [
    {
      count: ({ others }) => others,
      row: {
        challenge: credentialId("passkey challenge"),
        operation: "'login'",
        user_id: id("passkey user"),
        user_verification: "'preferred'",
        transaction_id: id("transaction"),
        expires_at: "now() + interval '5 minutes'",
      },
    },
  ],
  transaction_confirmations: [
    {
      count: ({ others }) => others,
      row: {
        transaction_id: id("transaction"),
        page_token_hash: digest("page"),
        redirect_to: "'https://shop.test/back'",
        sealed_result: `case when i % 20 = 0 then ${digest("result")} end`,
        expires_at: recently("$COUNT", "24 hours"),
      },
    },
  ],
  authenticator_devices: [
    {
      count: ({ others }) => others,
      row: {
        id: id("phone"),
        user_id: "'customer-' || i",
        aaid: "'006F#0001'",
        key_id: digest("phone"),
        public_key: publicKey,
        key_format: "256",
        algorithm: "1",
        sign_counter: "1",
        reg_counter: "1",
        authenticator_version: "1",
        attestation: "'surrogate'",
        key_name: "'Phone'",
        is_second_factor_only: "true",
        last_used_at: "now()",
      },
    },
  ],
  authenticator_requests: [
    {
      count: ({ others }) => others,
      row: {
        id: "rpad(md5('request ' || i), 44, 'x')",
        operation: "'AUTH'",
        status: "'OK'",
        user_id: "'customer-' || i",
        username: "'customer-' || i",
        message: "repeat('x', 500)",
        device_token_hash: digest("device token"),
        flow_id: `case when i % 4 = 0 then ${id("flow")} end`,
        valid_until: recently("$COUNT", "24 hours"),
      },
    },
  ],
  rate_counters: [
    {
      count: ({ others }) => others,
      row: {
        key: "'step_source:' || md5(i::text)",
        points: "1",
        expire: "extract(epoch from now()) * 1000 + 60000",
      },
    },
  ],
  rate_limits: [
    {
      count: ({ others }) => others,
      row: {
        key: "'step_source:' || md5(i::text)",
        points: "1",
        expire: "extract(epoch from now()) * 1000 + 60000",
      },
    },
  ],
};

/** The tables that grow with the number of users and of their sign-ins. */
export const growingTables: ReadonlySet<string> = new Set(
  tables.filter((table) => rulesOf(table).grows !== false).map(getTableName),
);

const withoutTenant: ReadonlySet<string> = new Set(
  tables.filter((table) => !("tenantId" in table)).map(getTableName),
);

/** A hash that no password matches, as long as a real one. */
const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"B".repeat(43)}`;

/**
 * Fills a database of the current schema with rows as a service has them after years, and gathers their statistics.
 * Indexes and foreign keys are built after the rows. What is in the database stays.
 *
 * @param client connected as the owner of the tables; a server has started on the database, if one is to start again
 * @param helpers further connections, which share the work; default: none
 * @param passwordHash of every account; default: one that no password matches
 * @param passkey COSE public key of every passkey of an account; default: one that no signature matches
 * @param flowLifetime interval of PostgreSQL after which a flow expires; default: an hour
 * @param report called with each table when it is filled
 */
export async function grow(
  client: ClientBase,
  tenantId: string,
  growth: Growth,
  {
    helpers = [],
    passwordHash = NO_PASSWORD,
    passkey,
    flowLifetime = "1 hour",
    report = () => {},
  }: {
    helpers?: readonly ClientBase[];
    passwordHash?: string;
    passkey?: Buffer;
    flowLifetime?: string;
    report?: (table: string) => void;
  } = {},
): Promise<void> {
  const clients = [client, ...helpers];
  const restore = await dropIndexes(client);
  // The trigger of sessions would look for each account in a table without indexes.
  await client.query("alter table sessions disable trigger user");
  const { rows: keys } = await client.query<{ name: string }>(
    "select sealed_by as name from signing_keys order by created_at desc limit 1",
  );
  const key = `'\\x${keys[0]?.name ?? "00".repeat(8)}'::bytea`;
  const fills = Object.entries(rowsOf).flatMap(([table, rows]) =>
    rows.map(({ count, row }) => {
      const total = count(growth);
      const values = { ...(withoutTenant.has(table) ? {} : { tenant_id: `'${tenantId}'` }), ...row };
      const expressions = Object.values(values).map((expression) =>
        expression
          .replaceAll("$USERS", String(Math.max(1, growth.users)))
          .replaceAll("$COUNT", String(total))
          .replaceAll("$FLOW_LIFETIME", flowLifetime)
          .replaceAll("$KEY", key)
          .replaceAll("$PASSKEY", passkey ? `'\\x${passkey.toString("hex")}'::bytea` : "null")
          .replaceAll("$HASH", client.escapeLiteral(passwordHash)),
      );
      const statement = `
        insert into ${table} (${Object.keys(values).join(", ")})
        select ${expressions.join(", ")} from generate_series(1, ${total}) as i`;
      return { table, total, statement };
    }),
  );
  // The largest first, so that no connection is left alone with one of them.
  await share(
    clients,
    fills.toSorted((one, other) => other.total - one.total),
    async (one, { table, statement }) => {
      await one.query(statement);
      report(table);
    },
  );
  await share(clients, restore.indexes, (one, statement) => one.query(statement));
  await client.query("alter table sessions enable trigger user");
  report("indexes");
  await share(clients, restore.keys, (one, statement) => one.query(statement));
  report("keys");
  // Frozen as rows of years are, so that no vacuum has to pass through them again; the checks that follow are planned
  // by the statistics.
  await client.query("vacuum (freeze, analyze)");
  // One after the other: each locks the table that it refers to.
  for (const statement of restore.references) await client.query(statement);
  report("foreign keys");
}

/** Gives each item to the next connection that is free. */
async function share<Item>(
  clients: readonly ClientBase[],
  items: Iterable<Item>,
  work: (client: ClientBase, item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  await Promise.all(
    clients.map(async (client) => {
      for (let next = rest.next(); !next.done; next = rest.next()) await work(client, next.value);
    }),
  );
}

/** Drops indexes and foreign keys of all growing tables. @returns the statements that restore them */
async function dropIndexes(client: ClientBase): Promise<Record<"indexes" | "keys" | "references", string[]>> {
  const names = [[...growingTables]];
  // Primary keys and unique constraints before the foreign keys that need them.
  const { rows: constraints } = await client.query<{
    table: string;
    name: string;
    definition: string;
    refers: boolean;
  }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition,
      contype = 'f' as refers
    from pg_constraint where contype in ('p', 'u', 'f')
      and conrelid = any ($1::text[]::regclass[])
    order by contype = 'f', conname`,
    names,
  );
  for (const { table, name } of constraints.toReversed())
    await client.query(`alter table ${table} drop constraint ${name}`);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = any ($1::text[]::regclass[])`,
    names,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  const restoring = (refers: boolean) =>
    constraints
      .filter((one) => one.refers === refers)
      .map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`);
  return {
    indexes: indexes.map(({ definition }) => definition),
    keys: restoring(false),
    references: restoring(true),
  };
}
