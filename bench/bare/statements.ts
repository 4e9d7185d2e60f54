import { prepared, type Statement } from "./statement.ts";

/**
 * The statements of the hand-made server, as few as a step can do with: one to claim a flow and read all that the step
 * judges, one to save it with all that the step writes. A flow that its
 * first action begins is read for without a claim, and inserted by the save. Parameters are named, as `:tenant`;
 * `statement.ts` numbers them.
 */

const now = "clock_timestamp()";
const milliseconds = `(extract(epoch from ${now}) * 1000)::bigint`;

/** A part of the claim: common table expressions that read or take, joins and columns. */
interface Reading {
  with?: string;
  join?: string;
  columns?: string;
}

/** A statement of a step: of a flow that is stored, and of one that its first action begins. */
interface OfStep {
  stored: Statement;
  begun: Statement;
}

const claimed = `update flows set claim = :claim, claimed_by = :instance, claimed_until = ${now} + interval '15 seconds'
    where tenant_id = :tenant and id = :flow and token_hash = :token and finished_at is null and expires_at >= ${now}
      and (claimed_until is null or claimed_until < ${now})
    returning *`;

/** Nothing is stored of it yet, so nothing is claimed. */
const unstored = `select :tenant::uuid as tenant_id, :flow::uuid as id, :type::text as type, '{}'::jsonb as data,
      '[]'::jsonb as history, null::uuid as user_id`;

/** Claims a flow and charges its source. */
const claiming = (reading: Reading, ofBegun = reading): OfStep => ({
  stored: readingOf(claimed, reading),
  begun: readingOf(unstored, ofBegun),
});

const readingOf = (flow: string, { with: parts = "", join = "", columns = "" }: Reading) =>
  prepared(`
  with flow as (${flow}),
  charge as (
    insert into rate_limits as counter (key, points, expire)
    select 'step_source:' || :source, 1, ${milliseconds} + 60000 from flow
    on conflict (key) do update set
      points = case when counter.expire <= ${milliseconds} then 1 else counter.points + 1 end,
      expire = case when counter.expire <= ${milliseconds} then excluded.expire else counter.expire end
    returning points)${parts && `, ${parts}`}
  select flow.type, flow.data, flow.history, ${now} as now, (select points from charge) as charged, person.*${columns && `, ${columns}`}
  from flow ${join}
    left join user_facts person
      on person.tenant_id = :tenant and person.user_id = ${join.includes(" who ") ? "who.user_id" : "flow.user_id"}`);

/** Counts a try before its secret is compared. */
const trying = (method: string, subject: string) => `attempt as (
    insert into failures as counter
      (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
    select tenant_id, '${method}', ${subject}, :source, 1, ${now}, 1, ${now} from flow
    on conflict (tenant_id, method, subject, source) do update set
      consecutive = counter.consecutive + 1, window_count = counter.window_count + 1, last_at = excluded.last_at
    returning consecutive)`;

/** Reads a passkey, and takes the challenge that it answers; one of a flow that begins is sealed. */
const byPasskey = (isSealed: boolean, taking: string): Reading => ({
  with: `challenge as (${taking})`,
  join: "left join webauthn_credentials who on who.tenant_id = :tenant and who.id = :credential",
  columns: `who.public_key, who.sign_count, who.user_handle, (select challenge from challenge) as challenge,
    ${isSealed} as is_sealed`,
});

const subjectOfFlow = "decode(replace(user_id::text, '-', ''), 'hex')";

/** The claims, by what the step reads. */
export const claims = {
  nothing: claiming({}),
  address: claiming({
    join: "left join emails who on who.tenant_id = :tenant and who.address = :email",
    columns: "who.address",
  }),
  password: claiming({
    with: trying("password", subjectOfFlow),
    join: "left join passwords secret on secret.tenant_id = :tenant and secret.user_id = flow.user_id",
    columns: "secret.hash, (select consecutive from attempt) as tries",
  }),
  totp: claiming({
    with: trying("totp", subjectOfFlow),
    join: "left join totp_secrets secret on secret.tenant_id = :tenant and secret.user_id = flow.user_id",
    columns: "secret.sealed_secret, secret.last_step, (select consecutive from attempt) as tries",
  }),
  passcode: claiming({
    with: `attempt as (
      update passcodes set tries = tries + 1
      where tenant_id = :tenant and flow_id = :flow and expires_at > ${now} and tries < 3 returning code_hash)`,
    columns: "(select code_hash from attempt limit 1) as code_hash",
  }),
  passkey: claiming(
    byPasskey(
      false,
      `delete from webauthn_challenges
      where tenant_id = :tenant and challenge = :challenge and flow_id = :flow and ceremony = 'request' and expires_at > ${now}
      returning challenge`,
    ),
    byPasskey(
      true,
      `insert into seen_assertions (tenant_id, id_hash, expires_at)
      select tenant_id, :challengeHash::bytea, ${now} + interval '10 minutes' from flow
      on conflict do nothing returning :challenge::text as challenge`,
    ),
  ),
  exchange: claiming({
    with: `taken as (
      delete from exchange_tokens
      where tenant_id = :tenant and token_hash = :exchangeHash and flow_id = :flow and expires_at > ${now} returning user_id, sealed)`,
    join: "left join taken who on true",
    columns: "who.sealed",
  }),
};

const updated = `saved as (
    update flows set state = :state, version = version + 1, token_hash = :nextToken, data = :data, history = :history,
      payload = :payload, user_id = :user, finished_at = case when :session::uuid is null then null else ${now} end, session_id = :session,
      problem = null, claim = null, claimed_by = null, claimed_until = null
    where tenant_id = :tenant and id = :flow and claim = :claim and token_hash = :token
    returning tenant_id, id, user_id, session_id)`;

const inserted = `saved as (
    insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, user_id,
      finished_at, session_id, expires_at)
    values (:tenant, :flow, :type, :state, 0, :nextToken, :resume, :data, :history, :payload, :user,
      case when :session::uuid is null then null else ${now} end, :session, ${now} + interval '1 hour')
    returning tenant_id, id, user_id, session_id)`;

const savedBy = (statement: (saved: string) => string): OfStep => ({
  stored: prepared(statement(updated)),
  begun: prepared(statement(inserted)),
});

const saving = (...parts: string[]) =>
  savedBy((saved) => `with ${[saved, ...parts].join(", ")} select 1 from saved`);

/** Session, its limit, the audit entry, and the event with its deliveries, of a flow that ends. */
const ending = [
  `ended as (
    delete from sessions using saved
    where sessions.tenant_id = saved.tenant_id and sessions.user_id = saved.user_id and sessions.id in (
      select id from sessions other where other.tenant_id = :tenant and other.user_id = :user
      order by created_at desc, id desc offset 4))`,
  `issued as (
    insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, ip_address, user_agent, last_used_at, expires_at)
    select tenant_id, session_id, user_id, ${now}, :factors::jsonb, :methods::text[], :source, :userAgent, ${now}, ${now} + interval '12 hours'
    from saved)`,
  `entry as (
    insert into audit_logs (tenant_id, id, type, user_id, request_id, ip_address, user_agent, details)
    select tenant_id, gen_random_uuid(), 'login_success', user_id, :claim, :source, :userAgent, '{"methods":["bench"]}' from saved)`,
  `target as materialized (
    select w.id, w.callback from webhooks w join saved on w.tenant_id = saved.tenant_id where w.enabled)`,
  `event as (
    insert into events (tenant_id, id, name, subject_id, flow_id, data)
    select tenant_id, :event, 'user.login', user_id::text, id, :eventData::jsonb from saved where exists (select from target)
    returning tenant_id, id, sequence, subject_id)`,
  `delivery as (
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id, claimed_until)
    select e.tenant_id, gen_random_uuid(), t.id::text, e.id, e.sequence, e.subject_id, ${now} + interval '15 seconds'
    from event e, target t
    returning id, webhook)`,
];

const finishing = (...parts: string[]) =>
  savedBy(
    (saved) => `
  with ${[saved, ...ending, ...parts].join(", ")}
  select (select json_agg(json_build_object('id', d.id, 'callback', t.callback))
    from delivery d join target t on t.id::text = d.webhook) as deliveries
  from saved`,
  );

/** Takes back the count of a try that succeeded. */
const proven = (method: string) => `proven as (
    update failures set consecutive = 0, window_count = greatest(window_count - 1, 0) from saved
    where failures.tenant_id = saved.tenant_id and method = '${method}'
      and subject = decode(replace(saved.user_id::text, '-', ''), 'hex') and source = :source)`;

const codeTaken =
  "taken as (delete from passcodes using saved where passcodes.tenant_id = saved.tenant_id and flow_id = saved.id)";

/** The saves, by what the step writes. */
export const saves = {
  nothing: saving(),
  challenge: saving(`opened as (
    insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
    select tenant_id, :challengeId::uuid, id, 'request', :challenge, ${now} + interval '5 minutes' from saved)`),
  code: saving(
    `code as (
    insert into passcodes (tenant_id, flow_id, purpose, recipient, code_hash, expires_at)
    select tenant_id, id, 'bench', '\\x00', :codeHash::bytea, ${now} + interval '5 minutes' from saved
    on conflict (tenant_id, flow_id, purpose, recipient) do update set code_hash = excluded.code_hash, tries = 0)`,
    `job as (insert into bench_jobs (id, data, taken_until)
    select id, :mail::jsonb, ${now} + interval '40 seconds' from saved)`,
  ),
  codeTaken: saving(codeTaken),
  provider: saving(`asked as (
    insert into third_party_requests (tenant_id, state_hash, flow_id, provider, sealed, redirect_to, expires_at)
    select tenant_id, :stateHash::bytea, id, 'custom_bench', :sealed::bytea, :redirectTo, ${now} + interval '10 minutes'
    from saved)`),
  /** After a password that a second factor follows. */
  firstFactor: saving(proven("password")),
  secondFactor: saving(
    proven("totp"),
    `used as (update totp_secrets t set last_step = :step::bigint from saved
      where t.tenant_id = saved.tenant_id and t.user_id = saved.user_id and t.last_step < :step::bigint)`,
  ),
  end: finishing(),
  endByPassword: finishing(proven("password")),
  endByCode: finishing(codeTaken),
  endByPasskey: finishing(`used as (
    update webauthn_credentials c set last_used_at = ${now}, updated_at = ${now}, last_used_user_agent = :userAgent,
      last_used_ip_address = :source, backup_state = true
    from saved where c.tenant_id = saved.tenant_id and c.id = :credential)`),
  endByRegistration: finishing(
    `account as (insert into users (tenant_id, id) select tenant_id, user_id from saved returning tenant_id, id)`,
    `address as (insert into emails (tenant_id, id, user_id, address, is_primary, verified_at)
      select tenant_id, gen_random_uuid(), id, :address, true, ${now} from account)`,
    `secret as (insert into passwords (tenant_id, user_id, hash) select tenant_id, id, :hash from account)`,
  ),
};

/** Statements outside of the steps of flows. */
export const others = {
  jobs: prepared(`create table if not exists bench_jobs (
    id uuid primary key, data jsonb not null, taken_until timestamptz not null)`),
  jobDone: prepared("delete from bench_jobs where id = :job"),
  start:
    prepared(`insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
    values (:tenant, :flow, :type, 'preflight', 0, :token, :resume, :data, '[]', '{}', ${now} + interval '1 hour')`),
  session: prepared(
    `select * from sessions where tenant_id = :tenant and id = :session and expires_at > ${now}`,
  ),
  delivered: prepared(`with settled as (
      update webhook_deliveries set state = 'delivered', attempts = 1, claimed_until = null, finished_at = ${now}
      where tenant_id = :tenant and id = any(:deliveries::uuid[]) returning tenant_id, id)
    insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms, status)
    select tenant_id, id, 1, ${now}, 1, 204 from settled`),
  takeRequest: prepared(`delete from third_party_requests
    where tenant_id = :tenant and state_hash = :stateHash and expires_at > ${now} returning flow_id, sealed, redirect_to`),
  exchange:
    prepared(`insert into exchange_tokens (tenant_id, token_hash, flow_id, user_id, sealed, expires_at)
    select :tenant, :exchangeHash, :flow, (select user_id from identities where tenant_id = :tenant and provider = 'custom_bench' and subject = :subject),
      :sealed, ${now} + interval '1 minute'`),
  transactionInit: prepared(`
    with key as (select from api_keys where key_hash = :keyHash and interface = 'passkeys'),
    person as (select id from passkey_users where tenant_id = :tenant and user_id = :user and exists (select from key)),
    credential as (
      select c.id, c.transports from passkey_credentials c join person on c.user_id = person.id
      where c.tenant_id = :tenant and not c.is_mfa),
    opened as (
      insert into passkey_transactions (tenant_id, id, user_id, identifier, data, challenge)
      select :tenant, :id, id, :identifier, :data, :challenge from person
      on conflict (tenant_id, identifier) do nothing returning id, user_id),
    challenge as (
      insert into passkey_challenges (tenant_id, challenge, operation, user_id, user_verification, allowed, transaction_id, expires_at)
      select :tenant, :challenge, 'transaction', user_id, 'required', array(select id from credential), id, ${now} + interval '5 minutes'
      from opened),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select :tenant, gen_random_uuid(), 'webauthn_transaction_init_succeeded', :request, jsonb_build_object('actor_user_id', :user::text)
      from opened)
    select json_agg(json_build_object('id', id, 'transports', transports)) as allowed
    from credential where exists (select from opened)`),
  transactionTake: prepared(`
    with key as (select from api_keys where key_hash = :keyHash and interface = 'passkeys'),
    challenge as (
      delete from passkey_challenges where tenant_id = :tenant and challenge = :challenge and operation = 'transaction'
        and expires_at > ${now} and exists (select from key)
      returning transaction_id, user_id, allowed)
    select t.id, t.identifier, t.data, t.created_at, c.id as credential, c.public_key, c.aaguid, c.attestation_type,
      c.created_at as credential_created_at, u.user_id
    from challenge
    join passkey_transactions t on t.tenant_id = :tenant and t.id = challenge.transaction_id
    join passkey_credentials c on c.tenant_id = :tenant and c.id = :credential and c.user_id = challenge.user_id
    join passkey_users u on u.tenant_id = :tenant and u.id = c.user_id`),
  transactionEnd: prepared(`
    with marked as (
      update passkey_transactions set confirmed_at = ${now}, updated_at = ${now}
      where tenant_id = :tenant and id = :id and confirmed_at is null returning id),
    used as (
      update passkey_credentials set last_used_at = ${now}, updated_at = ${now}
      where tenant_id = :tenant and id = :credential and exists (select from marked)),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select :tenant, gen_random_uuid(), 'webauthn_transaction_final_succeeded', :request, '{}' from marked)
    select 1 from marked`),
  devices: prepared(`
    select id, aaid, translate(encode(key_id, 'base64'), E'+/=\\n', '-_') as key_id from authenticator_devices
    where tenant_id = :tenant and user_id = :user and exists (select from api_keys where key_hash = :keyHash)`),
  uafRequest: prepared(`
    with older as (
      update authenticator_requests set status = 'INVALIDATED', challenge = null, sealed_device_token = null
      where tenant_id = :tenant and user_id = :user and operation = 'AUTH' and flow_id is null and status = 'PENDING' and valid_until > ${now})
    insert into authenticator_requests
      (tenant_id, id, operation, status, user_id, username, challenge, message, device_token_hash, valid_until)
    values (:tenant, :id, 'AUTH', 'PENDING', :user, :username, :challenge, :message, :deviceToken, ${now} + interval '2 minutes')`),
  uafTake: prepared(`
    with before as (
      select id, user_id, challenge from authenticator_requests
      where tenant_id = :tenant and id = :id and status = 'PENDING' and valid_until > ${now} and challenge is not null
        and exists (select from api_keys where key_hash = :keyHash)
      for update),
    taken as (
      update authenticator_requests r set challenge = null from before where r.tenant_id = :tenant and r.id = before.id
      returning before.user_id, before.challenge)
    select taken.challenge, taken.user_id, d.id, d.key_id, d.public_key, d.aaid
    from taken left join authenticator_devices d on d.tenant_id = :tenant and d.user_id = taken.user_id`),
  uafEnd: prepared(`
    with ended as (
      update authenticator_requests set status = 'OK', sealed_device_token = null, device_id = :device, answered_at = ${now}
      where tenant_id = :tenant and id = :id and status = 'PENDING' returning id),
    used as (
      update authenticator_devices set last_used_at = ${now}
      where tenant_id = :tenant and id = :device and exists (select from ended)),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select :tenant, gen_random_uuid(), 'authenticator_request_succeeded', :request, jsonb_build_object('request_id', :id::text) from ended)
    select 1 from ended`),
};
