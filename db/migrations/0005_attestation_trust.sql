ALTER TABLE "passkey_credentials" ADD COLUMN "attestation_trust" text DEFAULT 'unverified' NOT NULL;--> statement-breakpoint
UPDATE "passkey_credentials" SET "attestation_trust" = 'none' WHERE "attestation_type" = 'none';
