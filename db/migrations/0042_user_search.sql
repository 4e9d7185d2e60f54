ALTER TABLE "users" ADD COLUMN "last_sign_in_at" timestamp (3) with time zone;--> statement-breakpoint
-- Each sign-in updates the row. With room in its page the update writes no index entry (HOT).
ALTER TABLE "users" SET (fillfactor = 90);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "emails_beginning" ON "emails" USING btree ("tenant_id","address" text_pattern_ops);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "usernames_beginning" ON "usernames" USING btree ("tenant_id","username" text_pattern_ops);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_name" ON "users" USING btree ("tenant_id",lower("name") text_pattern_ops) WHERE "users"."name" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_family_name" ON "users" USING btree ("tenant_id",lower("family_name") text_pattern_ops) WHERE "users"."family_name" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "events_subject" ON "events" USING btree ("tenant_id","subject_id","created_at","id") WHERE "events"."subject_id" is not null;