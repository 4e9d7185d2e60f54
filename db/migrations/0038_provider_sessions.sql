CREATE TABLE "provider_sessions" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"provider" text NOT NULL,
	"session_id" uuid,
	"handle_hash" "bytea",
	"name_id_hash" "bytea",
	"sealed" "bytea" NOT NULL,
	"redirect_to" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	CONSTRAINT "provider_sessions_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "provider_sessions" ADD CONSTRAINT "provider_sessions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_sessions" ADD CONSTRAINT "provider_sessions_tenant_id_session_id_sessions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","session_id") REFERENCES "public"."sessions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_sessions_session" ON "provider_sessions" USING btree ("tenant_id","session_id") WHERE "provider_sessions"."session_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_sessions_handle" ON "provider_sessions" USING btree ("tenant_id","handle_hash") WHERE "provider_sessions"."handle_hash" is not null;--> statement-breakpoint
CREATE INDEX "provider_sessions_name_id" ON "provider_sessions" USING btree ("tenant_id","provider","name_id_hash") WHERE "provider_sessions"."name_id_hash" is not null;--> statement-breakpoint
CREATE INDEX "provider_sessions_expires_at" ON "provider_sessions" USING btree ("expires_at") WHERE "provider_sessions"."expires_at" is not null;