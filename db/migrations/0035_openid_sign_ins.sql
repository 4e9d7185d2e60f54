CREATE TABLE "openid_sign_ins" (
	"tenant_id" uuid NOT NULL,
	"client_id" text NOT NULL,
	"sid" text NOT NULL,
	"session_id" uuid,
	"user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "openid_sign_ins_tenant_id_client_id_sid_pk" PRIMARY KEY("tenant_id","client_id","sid")
);
--> statement-breakpoint
ALTER TABLE "openid_sign_ins" ADD CONSTRAINT "openid_sign_ins_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "openid_sign_ins" ADD CONSTRAINT "openid_sign_ins_tenant_id_session_id_sessions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","session_id") REFERENCES "public"."sessions"("tenant_id","id") ON DELETE set null ("session_id") ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "openid_sign_ins_session" ON "openid_sign_ins" USING btree ("tenant_id","session_id") WHERE "openid_sign_ins"."session_id" is not null;--> statement-breakpoint
CREATE INDEX "openid_sign_ins_ended" ON "openid_sign_ins" USING btree ("tenant_id","created_at") WHERE "openid_sign_ins"."session_id" is null;