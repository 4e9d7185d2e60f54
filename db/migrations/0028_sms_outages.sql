CREATE TABLE "sms_outages" (
	"tenant_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"last_failed_at" timestamp (3) with time zone NOT NULL,
	"failure" text NOT NULL,
	CONSTRAINT "sms_outages_tenant_id_pk" PRIMARY KEY("tenant_id")
);
--> statement-breakpoint
ALTER TABLE "sms_outages" ADD CONSTRAINT "sms_outages_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;