CREATE TABLE "failures" (
	"tenant_id" uuid NOT NULL,
	"method" text NOT NULL,
	"subject" "bytea" NOT NULL,
	"source" text NOT NULL,
	"consecutive" integer NOT NULL,
	"window_started_at" timestamp (3) with time zone NOT NULL,
	"window_count" integer NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "failures_tenant_id_method_subject_source_pk" PRIMARY KEY("tenant_id","method","subject","source")
);
--> statement-breakpoint
CREATE TABLE "flows" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"version" integer NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"resume_hash" "bytea" NOT NULL,
	"user_id" uuid,
	"data" jsonb NOT NULL,
	"history" jsonb NOT NULL,
	"payload" jsonb NOT NULL,
	"problem" jsonb,
	"claim" uuid,
	"claimed_by" uuid,
	"claimed_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"session_id" uuid,
	CONSTRAINT "flows_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "instances" (
	"id" uuid PRIMARY KEY NOT NULL,
	"leased_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passcodes" (
	"tenant_id" uuid NOT NULL,
	"flow_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"recipient" "bytea" NOT NULL,
	"code_hash" "bytea" NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "passcodes_tenant_id_flow_id_purpose_recipient_pk" PRIMARY KEY("tenant_id","flow_id","purpose","recipient")
);
--> statement-breakpoint
CREATE TABLE "webauthn_challenges" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"flow_id" uuid NOT NULL,
	"ceremony" text NOT NULL,
	"user_id" uuid,
	"challenge" text NOT NULL,
	"allowed" text[],
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webauthn_challenges_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" bigint
);
--> statement-breakpoint
CREATE TABLE "audit_logs" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"type" text NOT NULL,
	"user_id" uuid,
	"request_id" text,
	"ip_address" text,
	"user_agent" text,
	"details" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_logs_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "mailbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"recipient" text NOT NULL,
	"subject" text NOT NULL,
	"text" text NOT NULL,
	"html" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "handover_codes" (
	"tenant_id" uuid NOT NULL,
	"code_hash" "bytea" NOT NULL,
	"session_id" uuid NOT NULL,
	"code_challenge" text NOT NULL,
	"redirect_to" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "handover_codes_tenant_id_code_hash_pk" PRIMARY KEY("tenant_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"authenticated_at" timestamp (3) with time zone NOT NULL,
	"factors" jsonb NOT NULL,
	"amr" text[] NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sessions_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"purpose" text NOT NULL,
	"algorithm" text NOT NULL,
	"public_jwk" jsonb NOT NULL,
	"sealed_private_jwk" "bytea" NOT NULL,
	"sealed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"retired_at" timestamp (3) with time zone,
	CONSTRAINT "signing_keys_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "emails" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"address" text NOT NULL,
	"is_primary" boolean NOT NULL,
	"verified_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "emails_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "emails_address_unique" UNIQUE("tenant_id","address")
);
--> statement-breakpoint
CREATE TABLE "passwords" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "passwords_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "usernames" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"username" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "usernames_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "usernames_username_unique" UNIQUE("tenant_id","username"),
	CONSTRAINT "usernames_user_unique" UNIQUE("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "webauthn_credentials" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"user_id" uuid NOT NULL,
	"public_key" "bytea" NOT NULL,
	"sign_count" bigint NOT NULL,
	"aaguid" text NOT NULL,
	"attestation_type" text NOT NULL,
	"transports" text[] NOT NULL,
	"backup_eligible" boolean NOT NULL,
	"backup_state" boolean NOT NULL,
	"user_verified" boolean NOT NULL,
	"mfa_only" boolean NOT NULL,
	"name" text,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webauthn_credentials_pkey" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "flows" ADD CONSTRAINT "flows_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "handover_codes" ADD CONSTRAINT "handover_codes_tenant_id_session_id_sessions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","session_id") REFERENCES "public"."sessions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_keys" ADD CONSTRAINT "signing_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "emails" ADD CONSTRAINT "emails_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passwords" ADD CONSTRAINT "passwords_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usernames" ADD CONSTRAINT "usernames_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webauthn_credentials" ADD CONSTRAINT "webauthn_credentials_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "failures_last_at" ON "failures" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "flows_expires_at" ON "flows" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "flows_user" ON "flows" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "passcodes_expires_at" ON "passcodes" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webauthn_challenges_challenge" ON "webauthn_challenges" USING btree ("tenant_id","challenge");--> statement-breakpoint
CREATE INDEX "webauthn_challenges_expires_at" ON "webauthn_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "rate_limits_expire" ON "rate_limits" USING btree ("expire");--> statement-breakpoint
CREATE INDEX "audit_logs_created_at" ON "audit_logs" USING btree ("tenant_id","created_at");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires_at" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_primary_unique" ON "emails" USING btree ("tenant_id","user_id") WHERE is_primary;--> statement-breakpoint
CREATE INDEX "webauthn_credentials_user" ON "webauthn_credentials" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE VIEW "public"."user_facts" AS (
  select u.tenant_id, u.id as user_id,
    exists(select from passwords o where o.tenant_id = u.tenant_id and o.user_id = u.id and true) as has_password,
    exists(select from webauthn_credentials o where o.tenant_id = u.tenant_id and o.user_id = u.id and not o.mfa_only) as has_passkey,
    (select count(*)::int from webauthn_credentials c where c.tenant_id = u.tenant_id and c.user_id = u.id) as credential_count,
    (select n.username from usernames n where n.tenant_id = u.tenant_id and n.user_id = u.id) as username,
    e.address as email,
    e.verified_at is not null as email_verified
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary);