CREATE TABLE "mail_outages" (
	"tenant_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"last_failed_at" timestamp (3) with time zone NOT NULL,
	"failure" text NOT NULL,
	CONSTRAINT "mail_outages_tenant_id_pk" PRIMARY KEY("tenant_id")
);
--> statement-breakpoint
ALTER TABLE "mail_outages" ADD CONSTRAINT "mail_outages_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_logs_identifier" ON "audit_logs" USING btree ("tenant_id",(details ->> 'identifier_digest'),"created_at","id") WHERE (details ->> 'identifier_digest') is not null;