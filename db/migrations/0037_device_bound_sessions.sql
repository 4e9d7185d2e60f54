ALTER TABLE "sessions" ADD COLUMN "bound_key" jsonb;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_hash" "bytea";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "previous_bound_hash" "bytea";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "previous_bound_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_challenge_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "binding_rejected_at" timestamp (3) with time zone;