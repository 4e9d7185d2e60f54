-- Release 0.2 does not run beside this version: no server of it can take a lease any more. The migrator has waited for the
-- last one to end.
DELETE FROM "instances" WHERE "version" IS NULL;--> statement-breakpoint
ALTER TABLE "instances" ALTER COLUMN "version" SET NOT NULL;--> statement-breakpoint
-- The sessions of blocked accounts are refused by the statement that issues them.
DROP TRIGGER IF EXISTS "refuse_session_of_blocked" ON "sessions";--> statement-breakpoint
DROP FUNCTION "refuse_session_of_blocked"();
