CREATE TABLE "phone_numbers" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"number" text NOT NULL,
	"verified_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "phone_numbers_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "phone_numbers_number_unique" UNIQUE("tenant_id","number"),
	CONSTRAINT "phone_numbers_user_unique" UNIQUE("tenant_id","user_id")
);
--> statement-breakpoint
DROP VIEW "public"."user_facts";--> statement-breakpoint
ALTER TABLE "phone_numbers" ADD CONSTRAINT "phone_numbers_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE VIEW "public"."user_facts" AS (
  select u.tenant_id, u.id as user_id,
    exists(select from passwords o where o.tenant_id = u.tenant_id and o.user_id = u.id and true) as has_password,
    exists(select from webauthn_credentials o where o.tenant_id = u.tenant_id and o.user_id = u.id and not o.mfa_only) as has_passkey,
    exists(select from webauthn_credentials o where o.tenant_id = u.tenant_id and o.user_id = u.id and o.mfa_only) as has_security_key,
    exists(select from totp_secrets o where o.tenant_id = u.tenant_id and o.user_id = u.id and true) as has_totp,
    exists(select from authenticator_devices d where d.tenant_id = u.tenant_id and d.user_id = u.id::text) as has_authenticator,
    exists(select from recovery_codes o where o.tenant_id = u.tenant_id and o.user_id = u.id and true) as has_recovery_code,
    exists(select from identities o where o.tenant_id = u.tenant_id and o.user_id = u.id and true) as has_identity,
    (select count(*)::int from webauthn_credentials c where c.tenant_id = u.tenant_id and c.user_id = u.id) as credential_count,
    (select n.username from usernames n where n.tenant_id = u.tenant_id and n.user_id = u.id) as username,
    e.address as email,
    e.verified_at is not null as email_verified,
    u.language,
    u.blocked_at is not null as blocked,
    u.passkey_declined_at,
    p.number as phone,
    p.verified_at is not null as phone_verified
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary
  left join phone_numbers p on p.tenant_id = u.tenant_id and p.user_id = u.id);