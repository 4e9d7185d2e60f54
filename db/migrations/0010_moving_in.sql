CREATE TABLE "user_imports" (
	"tenant_id" uuid NOT NULL,
	"input_hash" "bytea" NOT NULL,
	"records" bigint NOT NULL,
	"imported" bigint NOT NULL,
	"refused" bigint NOT NULL,
	"records_hash" "bytea" NOT NULL,
	"omitted" jsonb NOT NULL,
	"report_bytes" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_imports_tenant_id_input_hash_pk" PRIMARY KEY("tenant_id","input_hash")
);
--> statement-breakpoint
ALTER TABLE "webauthn_credentials" ADD COLUMN "user_handle" "bytea";--> statement-breakpoint
ALTER TABLE "user_imports" ADD CONSTRAINT "user_imports_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;