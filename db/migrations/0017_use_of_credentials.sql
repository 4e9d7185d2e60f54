ALTER TABLE "trusted_devices" ADD COLUMN "user_agent" text;--> statement-breakpoint
ALTER TABLE "trusted_devices" ADD COLUMN "ip_address" text;--> statement-breakpoint
ALTER TABLE "webauthn_credentials" ADD COLUMN "last_used_user_agent" text;--> statement-breakpoint
ALTER TABLE "webauthn_credentials" ADD COLUMN "last_used_ip_address" text;