CREATE TABLE "provider_tests" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"console_session_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"state" text NOT NULL,
	"ticket_hash" "bytea",
	"sealed_result" "bytea",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "provider_tests_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "reseals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"key_id" text NOT NULL,
	"columns" jsonb NOT NULL,
	"failure" text,
	"claimed_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "provider_tests" ADD CONSTRAINT "provider_tests_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_tests_session" ON "provider_tests" USING btree ("tenant_id","console_session_id");--> statement-breakpoint
CREATE INDEX "provider_tests_expires_at" ON "provider_tests" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "reseals_open" ON "reseals" USING btree ((true)) WHERE "reseals"."state" in ('waiting', 'running');