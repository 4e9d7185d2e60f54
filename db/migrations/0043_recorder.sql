CREATE TABLE "recorded_flows" (
	"tenant_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"type" text NOT NULL,
	"support_number" text NOT NULL,
	"user_id" uuid,
	"state" text,
	"outcome" text NOT NULL,
	"steps" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"last_step_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "recorded_flows_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "recorded_steps" (
	"tenant_id" uuid NOT NULL,
	"flow_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"from_state" text,
	"action" text,
	"verdict" text NOT NULL,
	"state" text,
	"error" text,
	"milliseconds" real NOT NULL,
	"database_ms" real NOT NULL,
	"hash_ms" real NOT NULL,
	"provider_ms" real NOT NULL,
	"statements" smallint NOT NULL,
	"in_state_ms" real,
	"request_id" text NOT NULL,
	"source" text NOT NULL,
	"platform" text,
	"browser" text,
	"embedding" text NOT NULL,
	"capabilities" text,
	"inputs" jsonb NOT NULL,
	"not_offered" "bytea",
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "recorded_steps_tenant_id_flow_id_id_pk" PRIMARY KEY("tenant_id","flow_id","id")
);
--> statement-breakpoint
CREATE INDEX "recorded_flows_started" ON "recorded_flows" USING btree ("tenant_id","started_at","id");--> statement-breakpoint
CREATE INDEX "recorded_flows_number" ON "recorded_flows" USING btree ("tenant_id","support_number");--> statement-breakpoint
CREATE INDEX "recorded_flows_user" ON "recorded_flows" USING btree ("tenant_id","user_id","started_at") WHERE "recorded_flows"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "recorded_flows_expires_at" ON "recorded_flows" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "recorded_steps_request" ON "recorded_steps" USING btree ("tenant_id","request_id");--> statement-breakpoint
CREATE INDEX "recorded_steps_expires_at" ON "recorded_steps" USING btree ("expires_at");