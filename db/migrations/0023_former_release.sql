CREATE TABLE "releases" (
	"version" text PRIMARY KEY NOT NULL,
	"oldest_beside" text NOT NULL,
	"first_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "passcodes" ADD COLUMN "key_id" "bytea";