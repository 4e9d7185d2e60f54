CREATE TABLE "settings_history" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"author_kind" text,
	"author_id" uuid,
	"restored_id" uuid,
	"changes" jsonb NOT NULL,
	"config" jsonb NOT NULL,
	"sealed_config" "bytea",
	"characters" integer NOT NULL,
	CONSTRAINT "settings_history_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "settings_history" ADD CONSTRAINT "settings_history_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "settings_history_created_at" ON "settings_history" USING btree ("tenant_id","created_at");