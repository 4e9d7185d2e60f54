/**
 * The statements of the hand-made server, as few as a step can do with: one to claim a flow and read all that the step
 * judges, one to save it with all that the step writes. PostgreSQL prepares each once on a connection.
 */

const now = "clock_timestamp()";
const milliseconds = `(extract(epoch from ${now}) * 1000)::bigint`;

/** A part of the claim: common table expressions that read or take, joins and columns. Its parameters follow `$6`. */
interface Reading {
  with?: string;
  join?: string;
  columns?: string;
}

/**
 * Claims a flow and charges its source. Parameters: claim, instance, tenant, flow, hash of the token, source, and those
 * of the reading.
 */
const claiming = ({ with: parts = "", join = "", columns = "" }: Reading) => `
  with flow as (
    update flows set claim = $1, claimed_by = $2, claimed_until = ${now} + interval '15 seconds'
    where tenant_id = $3 and id = $4 and token_hash = $5 and finished_at is null and expires_at >= ${now}
      and (claimed_until is null or claimed_until < ${now})
    returning *),
  charge as (
    insert into rate_limits as counter (key, points, expire)
    select 'step_source:' || $6, 1, ${milliseconds} + 60000 from flow
    on conflict (key) do update set
      points = case when counter.expire <= ${milliseconds} then 1 else counter.points + 1 end,
      expire = case when counter.expire <= ${milliseconds} then excluded.expire else counter.expire end
    returning points)${parts && `, ${parts}`}
  select flow.type, flow.data, flow.history, ${now} as now, (select points from charge) as charged, person.*${columns && `, ${columns}`}
  from flow ${join}
    left join user_facts person
      on person.tenant_id = $3 and person.user_id = ${join.includes(" who ") ? "who.user_id" : "flow.user_id"}`;

/** Counts a try before its secret is compared. */
const trying = (method: string, subject: string) => `attempt as (
    insert into failures as counter
      (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
    select tenant_id, '${method}', ${subject}, $6, 1, ${now}, 1, ${now} from flow
    on conflict (tenant_id, method, subject, source) do update set
      consecutive = counter.consecutive + 1, window_count = counter.window_count + 1, last_at = excluded.last_at
    returning consecutive)`;

const subjectOfFlow = "decode(replace(user_id::text, '-', ''), 'hex')";

/** The claims, by what the step reads. */
export const claims = {
  nothing: claiming({}),
  /** $7: an address. */
  address: claiming({
    join: "left join emails who on who.tenant_id = $3 and who.address = $7",
    columns: "who.address",
  }),
  password: claiming({
    with: trying("password", subjectOfFlow),
    join: "left join passwords secret on secret.tenant_id = $3 and secret.user_id = flow.user_id",
    columns: "secret.hash, (select consecutive from attempt) as tries",
  }),
  totp: claiming({
    with: trying("totp", subjectOfFlow),
    join: "left join totp_secrets secret on secret.tenant_id = $3 and secret.user_id = flow.user_id",
    columns: "secret.sealed_secret, secret.last_step, (select consecutive from attempt) as tries",
  }),
  passcode: claiming({
    with: `attempt as (
      update passcodes set tries = tries + 1
      where tenant_id = $3 and flow_id = $4 and expires_at > ${now} and tries < 3 returning code_hash)`,
    columns: "(select code_hash from attempt limit 1) as code_hash",
  }),
  /** $7: the challenge, $8: the credential. */
  passkey: claiming({
    with: `challenge as (
      delete from webauthn_challenges
      where tenant_id = $3 and challenge = $7 and flow_id = $4 and ceremony = 'request' and expires_at > ${now}
      returning challenge)`,
    join: "left join webauthn_credentials who on who.tenant_id = $3 and who.id = $8",
    columns:
      "who.public_key, who.sign_count, who.user_handle, (select challenge from challenge) as challenge",
  }),
  /** $7: hash of the exchange token. */
  exchange: claiming({
    with: `taken as (
      delete from exchange_tokens
      where tenant_id = $3 and token_hash = $7 and flow_id = $4 and expires_at > ${now} returning user_id, sealed)`,
    join: "left join taken who on true",
    columns: "who.sealed",
  }),
};

/** Parameters of every save, in this order; those of its parts follow. */
const saved = `saved as (
    update flows set state = $1, version = version + 1, token_hash = $2, data = $3, history = $4, payload = $5,
      user_id = $6, finished_at = case when $7::uuid is null then null else ${now} end, session_id = $7, problem = null,
      claim = null, claimed_by = null, claimed_until = null
    where tenant_id = $8 and id = $9 and claim = $10 and token_hash = $11
    returning tenant_id, id, user_id, session_id)`;

const saving = (...parts: string[]) => `with ${[saved, ...parts].join(", ")} select 1 from saved`;

const code = (hash: string, mail: string) => [
  `code as (
    insert into passcodes (tenant_id, flow_id, purpose, recipient, code_hash, expires_at)
    select tenant_id, id, 'bench', '\\x00', ${hash}::bytea, ${now} + interval '5 minutes' from saved
    on conflict (tenant_id, flow_id, purpose, recipient) do update set code_hash = excluded.code_hash, tries = 0)`,
  `job as (insert into bench_jobs (id, data, taken_until)
    select id, ${mail}::jsonb, ${now} + interval '40 seconds' from saved)`,
];

/** Session, its limit, the audit entry, and the event with its deliveries, of a flow that ends. Parameters from $12. */
const ending = [
  `ended as (
    delete from sessions using saved
    where sessions.tenant_id = saved.tenant_id and sessions.user_id = saved.user_id and sessions.id in (
      select id from sessions other where other.tenant_id = $8 and other.user_id = $6
      order by created_at desc, id desc offset 4))`,
  `issued as (
    insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, ip_address, user_agent, last_used_at, expires_at)
    select tenant_id, session_id, user_id, ${now}, $12::jsonb, $13::text[], $14, $15, ${now}, ${now} + interval '12 hours'
    from saved)`,
  `entry as (
    insert into audit_logs (tenant_id, id, type, user_id, request_id, ip_address, user_agent, details)
    select tenant_id, gen_random_uuid(), 'login_success', user_id, $16, $14, $15, '{"methods":["bench"]}' from saved)`,
  `target as materialized (
    select w.id, w.callback from webhooks w join saved on w.tenant_id = saved.tenant_id where w.enabled)`,
  `event as (
    insert into events (tenant_id, id, name, subject_id, flow_id, data)
    select tenant_id, $17, 'user.login', user_id::text, id, $18::jsonb from saved where exists (select from target)
    returning tenant_id, id, sequence, subject_id)`,
  `delivery as (
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id, claimed_until)
    select e.tenant_id, gen_random_uuid(), t.id::text, e.id, e.sequence, e.subject_id, ${now} + interval '15 seconds'
    from event e, target t
    returning id, webhook)`,
];

const finishing = (...parts: string[]) => `
  with ${[saved, ...ending, ...parts].join(", ")}
  select (select json_agg(json_build_object('id', d.id, 'callback', t.callback))
    from delivery d join target t on t.id::text = d.webhook) as deliveries
  from saved`;

const proven = (method: string) => `proven as (
    update failures set consecutive = 0, window_count = greatest(window_count - 1, 0) from saved
    where failures.tenant_id = saved.tenant_id and method = '${method}'
      and subject = decode(replace(saved.user_id::text, '-', ''), 'hex') and source = $19)`;

/** The saves, by what the step writes. */
export const saves = {
  nothing: saving(),
  /** $12: id, $13: challenge. */
  challenge: saving(`opened as (
    insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
    select tenant_id, $12::uuid, id, 'request', $13, ${now} + interval '5 minutes' from saved)`),
  /** $12: hash of the code, $13: the mail. */
  code: saving(...code("$12", "$13")),
  /** After a code. */
  codeTaken: saving(
    "taken as (delete from passcodes using saved where passcodes.tenant_id = saved.tenant_id and flow_id = saved.id)",
  ),
  /** $12: hash of the state, $13: sealed, $14: return address. */
  provider: saving(`asked as (
    insert into third_party_requests (tenant_id, state_hash, flow_id, provider, sealed, redirect_to, expires_at)
    select tenant_id, $12::bytea, id, 'custom_bench', $13::bytea, $14, ${now} + interval '10 minutes' from saved)`),
  /** After a password that a second factor follows; $12: source. */
  firstFactor: saving(proven("password").replace("$19", "$12")),
  end: finishing(),
  endByPassword: finishing(proven("password")),
  endByCode: finishing(
    "taken as (delete from passcodes using saved where passcodes.tenant_id = saved.tenant_id and flow_id = saved.id)",
  ),
  /** $19: source, $20: time step. */
  secondFactor: saving(
    proven("totp").replace("$19", "$12"),
    `used as (update totp_secrets t set last_step = $13::bigint from saved
      where t.tenant_id = saved.tenant_id and t.user_id = saved.user_id and t.last_step < $13::bigint)`,
  ),
  /** $19: the credential. */
  endByPasskey: finishing(`used as (
    update webauthn_credentials c set last_used_at = ${now}, updated_at = ${now}, last_used_user_agent = $15,
      last_used_ip_address = $14, backup_state = true
    from saved where c.tenant_id = saved.tenant_id and c.id = $19)`),
  /** $19: the address, $20: the hash of the password. */
  endByRegistration: finishing(
    `account as (insert into users (tenant_id, id) select tenant_id, user_id from saved returning tenant_id, id)`,
    `address as (insert into emails (tenant_id, id, user_id, address, is_primary, verified_at)
      select tenant_id, gen_random_uuid(), id, $19, true, ${now} from account)`,
    `secret as (insert into passwords (tenant_id, user_id, hash) select tenant_id, id, $20 from account)`,
  ),
};

export const others = {
  jobs: `create table if not exists bench_jobs (
    id uuid primary key, data jsonb not null, taken_until timestamptz not null)`,
  jobDone: "delete from bench_jobs where id = $1",
  start: `insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
    values ($1, $2, $3, 'preflight', 0, $4, $5, $6, '[]', '{}', ${now} + interval '1 hour')`,
  session: `select * from sessions where tenant_id = $1 and id = $2 and expires_at > ${now}`,
  /** After the deliveries of an event; $2: their ids. */
  delivered: `with settled as (
      update webhook_deliveries set state = 'delivered', attempts = 1, claimed_until = null, finished_at = ${now}
      where tenant_id = $1 and id = any($2::uuid[]) returning tenant_id, id)
    insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms, status)
    select tenant_id, id, 1, ${now}, 1, 204 from settled`,
  takeRequest: `delete from third_party_requests
    where tenant_id = $1 and state_hash = $2 and expires_at > ${now} returning flow_id, sealed, redirect_to`,
  exchange: `insert into exchange_tokens (tenant_id, token_hash, flow_id, user_id, sealed, expires_at)
    select $1, $2, $3, (select user_id from identities where tenant_id = $1 and provider = 'custom_bench' and subject = $4),
      $5, ${now} + interval '1 minute'`,
  /** $2: hash of the key, $3: the application's user, $4: id, $5: identifier, $6: data, $7: challenge, $8: for the log. */
  transactionInit: `
    with key as (select from api_keys where key_hash = $2 and interface = 'passkeys'),
    person as (select id from passkey_users where tenant_id = $1 and user_id = $3 and exists (select from key)),
    credential as (
      select c.id, c.transports from passkey_credentials c join person on c.user_id = person.id
      where c.tenant_id = $1 and not c.is_mfa),
    opened as (
      insert into passkey_transactions (tenant_id, id, user_id, identifier, data, challenge)
      select $1, $4, id, $5, $6, $7 from person
      on conflict (tenant_id, identifier) do nothing returning id, user_id),
    challenge as (
      insert into passkey_challenges (tenant_id, challenge, operation, user_id, user_verification, allowed, transaction_id, expires_at)
      select $1, $7, 'transaction', user_id, 'required', array(select id from credential), id, ${now} + interval '5 minutes'
      from opened),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select $1, gen_random_uuid(), 'webauthn_transaction_init_succeeded', $8, jsonb_build_object('actor_user_id', $3::text)
      from opened)
    select json_agg(json_build_object('id', id, 'transports', transports)) as allowed
    from credential where exists (select from opened)`,
  /** $2: hash of the key, $3: challenge, $4: credential. */
  transactionTake: `
    with key as (select from api_keys where key_hash = $2 and interface = 'passkeys'),
    challenge as (
      delete from passkey_challenges where tenant_id = $1 and challenge = $3 and operation = 'transaction'
        and expires_at > ${now} and exists (select from key)
      returning transaction_id, user_id, allowed)
    select t.id, t.identifier, t.data, t.created_at, c.id as credential, c.public_key, c.aaguid, c.attestation_type,
      c.created_at as credential_created_at, u.user_id
    from challenge
    join passkey_transactions t on t.tenant_id = $1 and t.id = challenge.transaction_id
    join passkey_credentials c on c.tenant_id = $1 and c.id = $4 and c.user_id = challenge.user_id
    join passkey_users u on u.tenant_id = $1 and u.id = c.user_id`,
  /** $2: transaction, $3: credential, $4: for the log. */
  transactionEnd: `
    with marked as (
      update passkey_transactions set confirmed_at = ${now}, updated_at = ${now}
      where tenant_id = $1 and id = $2 and confirmed_at is null returning id),
    used as (
      update passkey_credentials set last_used_at = ${now}, updated_at = ${now}
      where tenant_id = $1 and id = $3 and exists (select from marked)),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select $1, gen_random_uuid(), 'webauthn_transaction_final_succeeded', $4, '{}' from marked)
    select 1 from marked`,
  /** $2: hash of the key, $3: user. */
  devices: `
    select id, aaid, translate(encode(key_id, 'base64'), E'+/=\\n', '-_') as key_id from authenticator_devices
    where tenant_id = $1 and user_id = $3 and exists (select from api_keys where key_hash = $2)`,
  /** $2: id, $3: user, $4: name, $5: challenge, $6: message, $7: hash of the device's token. */
  uafRequest: `
    with older as (
      update authenticator_requests set status = 'INVALIDATED', challenge = null, sealed_device_token = null
      where tenant_id = $1 and user_id = $3 and operation = 'AUTH' and flow_id is null and status = 'PENDING' and valid_until > ${now})
    insert into authenticator_requests
      (tenant_id, id, operation, status, user_id, username, challenge, message, device_token_hash, valid_until)
    values ($1, $2, 'AUTH', 'PENDING', $3, $4, $5, $6, $7, ${now} + interval '2 minutes')`,
  /** $2: hash of the key, $3: id. */
  uafTake: `
    with before as (
      select id, user_id, challenge from authenticator_requests
      where tenant_id = $1 and id = $3 and status = 'PENDING' and valid_until > ${now} and challenge is not null
        and exists (select from api_keys where key_hash = $2)
      for update),
    taken as (
      update authenticator_requests r set challenge = null from before where r.tenant_id = $1 and r.id = before.id
      returning before.user_id, before.challenge)
    select taken.challenge, taken.user_id, d.id, d.key_id, d.public_key, d.aaid
    from taken left join authenticator_devices d on d.tenant_id = $1 and d.user_id = taken.user_id`,
  /** $2: id, $3: device, $4: for the log. */
  uafEnd: `
    with ended as (
      update authenticator_requests set status = 'OK', sealed_device_token = null, device_id = $3, answered_at = ${now}
      where tenant_id = $1 and id = $2 and status = 'PENDING' returning id),
    used as (
      update authenticator_devices set last_used_at = ${now}
      where tenant_id = $1 and id = $3 and exists (select from ended)),
    entry as (
      insert into audit_logs (tenant_id, id, type, request_id, details)
      select $1, gen_random_uuid(), 'authenticator_request_succeeded', $4, jsonb_build_object('request_id', $2::text) from ended)
    select 1 from ended`,
};
