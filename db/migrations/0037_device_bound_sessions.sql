ALTER TABLE "sessions" ADD COLUMN "bound_key" jsonb;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_hash" "bytea";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_hash_before" "bytea";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_challenge_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "bound_refused_at" timestamp (3) with time zone;