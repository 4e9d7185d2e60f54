-- Failures of passwords and codes for names without an account were counted under the source of accounts, '', which is
-- kept for a year; now they are counted under '*', for two days. The subject is an HMAC, so the two cannot be told apart.
-- Counters that lock a method (100 and more) stay; those below move, and the account's count starts again.
DELETE FROM "failures" "former" USING "failures" "current"
WHERE "former"."source" = '' AND "current"."source" = '*' AND "former"."method" IN ('password', 'passcode')
  AND "current"."tenant_id" = "former"."tenant_id" AND "current"."method" = "former"."method"
  AND "current"."subject" = "former"."subject";--> statement-breakpoint
UPDATE "failures" SET "source" = '*'
WHERE "source" = '' AND "method" IN ('password', 'passcode') AND "consecutive" < 100;
