CREATE TABLE "funnel_counts" (
	"tenant_id" uuid NOT NULL,
	"measure" text NOT NULL,
	"flow_type" text NOT NULL,
	"state" text NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"name" text NOT NULL,
	"target" text NOT NULL,
	"method" text NOT NULL,
	"platform" text NOT NULL,
	"browser" text NOT NULL,
	"embedding" text NOT NULL,
	"count" bigint NOT NULL,
	"durations" integer[],
	CONSTRAINT "funnel_counts_pkey" PRIMARY KEY("tenant_id","measure","flow_type","state","hour","name","target","method","platform","browser","embedding")
);
--> statement-breakpoint
ALTER TABLE "funnel_counts" ADD CONSTRAINT "funnel_counts_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "funnel_counts_hour" ON "funnel_counts" USING btree ("tenant_id","hour");