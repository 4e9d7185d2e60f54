ALTER TABLE "openid_artifacts" ADD COLUMN "answer" text;--> statement-breakpoint
ALTER TABLE "openid_consents" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "openid_consents" SET "expires_at" = "updated_at" + interval '90 days' WHERE "application" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "openid_consents_expires_at" ON "openid_consents" USING btree ("expires_at") WHERE "openid_consents"."expires_at" is not null;--> statement-breakpoint
ALTER TABLE "openid_consents" DROP COLUMN "request_hash";