CREATE TABLE "authenticator_devices" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"aaid" text NOT NULL,
	"key_id" "bytea" NOT NULL,
	"public_key" "bytea" NOT NULL,
	"key_format" integer NOT NULL,
	"algorithm" integer NOT NULL,
	"sign_counter" bigint NOT NULL,
	"reg_counter" bigint NOT NULL,
	"authenticator_version" integer NOT NULL,
	"attestation" text NOT NULL,
	"tc_display_png" jsonb,
	"key_name" text NOT NULL,
	"device_os" text,
	"os_version" text,
	"manufacturer" text,
	"model" text,
	"sealed_handles" "bytea",
	"is_second_factor_only" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "authenticator_devices_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "authenticator_devices_key_unique" UNIQUE("tenant_id","aaid","key_id")
);
--> statement-breakpoint
CREATE TABLE "authenticator_requests" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"operation" text NOT NULL,
	"status" text NOT NULL,
	"user_id" text NOT NULL,
	"username" text NOT NULL,
	"display_name" text,
	"transaction" text,
	"client_data" jsonb,
	"device_ids" uuid[],
	"is_second_factor_only" boolean,
	"challenge" text,
	"message" text NOT NULL,
	"device_token_hash" "bytea" NOT NULL,
	"sealed_device_token" "bytea",
	"error" jsonb,
	"device_id" uuid,
	"flow_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"valid_until" timestamp (3) with time zone NOT NULL,
	"answered_at" timestamp (3) with time zone,
	CONSTRAINT "authenticator_requests_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "passkey_challenges" (
	"tenant_id" uuid NOT NULL,
	"challenge" text NOT NULL,
	"operation" text NOT NULL,
	"user_id" uuid,
	"user_verification" text NOT NULL,
	"allowed" text[],
	"transaction_id" uuid,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "passkey_challenges_tenant_id_challenge_pk" PRIMARY KEY("tenant_id","challenge")
);
--> statement-breakpoint
CREATE TABLE "passkey_credentials" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text,
	"public_key" "bytea" NOT NULL,
	"sign_count" bigint NOT NULL,
	"aaguid" text NOT NULL,
	"attestation_type" text NOT NULL,
	"transports" text[] NOT NULL,
	"backup_eligible" boolean NOT NULL,
	"backup_state" boolean NOT NULL,
	"user_verified" boolean NOT NULL,
	"is_mfa" boolean NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "passkey_credentials_pkey" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "passkey_transactions" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"identifier" text NOT NULL,
	"data" text NOT NULL,
	"challenge" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	CONSTRAINT "passkey_transactions_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "passkey_transactions_identifier_unique" UNIQUE("tenant_id","identifier")
);
--> statement-breakpoint
CREATE TABLE "passkey_users" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"display_name" text NOT NULL,
	"icon" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "passkey_users_tenant_id_id_pk" PRIMARY KEY("tenant_id","id"),
	CONSTRAINT "passkey_users_user_id_unique" UNIQUE("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "transaction_confirmations" (
	"tenant_id" uuid NOT NULL,
	"transaction_id" uuid NOT NULL,
	"page_token_hash" "bytea" NOT NULL,
	"redirect_to" text NOT NULL,
	"code_hash" "bytea",
	"sealed_result" "bytea",
	"answered_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "transaction_confirmations_tenant_id_transaction_id_pk" PRIMARY KEY("tenant_id","transaction_id"),
	CONSTRAINT "transaction_confirmations_page_token_unique" UNIQUE("tenant_id","page_token_hash"),
	CONSTRAINT "transaction_confirmations_code_unique" UNIQUE("tenant_id","code_hash")
);
--> statement-breakpoint
DROP VIEW "public"."user_facts";--> statement-breakpoint
ALTER TABLE "authenticator_devices" ADD CONSTRAINT "authenticator_devices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "authenticator_requests" ADD CONSTRAINT "authenticator_requests_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_tenant_id_user_id_passkey_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."passkey_users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_tenant_id_transaction_id_passkey_transactions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","transaction_id") REFERENCES "public"."passkey_transactions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_credentials" ADD CONSTRAINT "passkey_credentials_tenant_id_user_id_passkey_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."passkey_users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_transactions" ADD CONSTRAINT "passkey_transactions_tenant_id_user_id_passkey_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."passkey_users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_users" ADD CONSTRAINT "passkey_users_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transaction_confirmations" ADD CONSTRAINT "transaction_confirmations_tenant_id_transaction_id_passkey_transactions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","transaction_id") REFERENCES "public"."passkey_transactions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "authenticator_devices_user" ON "authenticator_devices" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "authenticator_requests_user" ON "authenticator_requests" USING btree ("tenant_id","user_id","operation");--> statement-breakpoint
CREATE INDEX "authenticator_requests_flow" ON "authenticator_requests" USING btree ("tenant_id","flow_id");--> statement-breakpoint
CREATE INDEX "authenticator_requests_valid_until" ON "authenticator_requests" USING btree ("valid_until");--> statement-breakpoint
CREATE INDEX "passkey_challenges_expires_at" ON "passkey_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "passkey_credentials_user" ON "passkey_credentials" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "passkey_credentials_created_at" ON "passkey_credentials" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "passkey_transactions_user" ON "passkey_transactions" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "transaction_confirmations_expires_at" ON "transaction_confirmations" USING btree ("expires_at");--> statement-breakpoint
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
    e.verified_at is not null as email_verified
  from users u
  left join emails e on e.tenant_id = u.tenant_id and e.user_id = u.id and e.is_primary);