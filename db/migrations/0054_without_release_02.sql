-- Release 0.2 does not run beside this version: no server of it can take a lease any more. The migrator has waited for the
-- last one to end; a lease that is valid makes this fail.
DELETE FROM "instances" WHERE "version" IS NULL AND "leased_until" < statement_timestamp();--> statement-breakpoint
ALTER TABLE "instances" ALTER COLUMN "version" SET NOT NULL;
