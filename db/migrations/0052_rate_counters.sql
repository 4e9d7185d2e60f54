CREATE TABLE "rate_counters" (
	"tenant_id" uuid NOT NULL,
	"key" text NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" bigint,
	CONSTRAINT "rate_counters_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
CREATE INDEX "rate_counters_expire" ON "rate_counters" USING btree ("expire");