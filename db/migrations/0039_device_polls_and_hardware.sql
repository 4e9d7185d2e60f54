ALTER TABLE "openid_artifacts" ADD COLUMN "polled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "openid_artifacts" ADD COLUMN "poll_seconds" smallint;--> statement-breakpoint
ALTER TABLE "webauthn_credentials" ADD COLUMN "hardware_protected" boolean DEFAULT false NOT NULL;