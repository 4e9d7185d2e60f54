CREATE TABLE "recorded_settings" (
	"tenant_id" uuid NOT NULL,
	"digest" "bytea" NOT NULL,
	"settings" "bytea" NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "recorded_settings_tenant_id_digest_pk" PRIMARY KEY("tenant_id","digest")
);
--> statement-breakpoint
ALTER TABLE "recorded_steps" ADD COLUMN "decided_by" "bytea";--> statement-breakpoint
CREATE INDEX "recorded_settings_expires_at" ON "recorded_settings" USING btree ("expires_at");