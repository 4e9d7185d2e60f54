CREATE TABLE "openid_artifacts" (
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"id_hash" text NOT NULL,
	"payload" "bytea" NOT NULL,
	"grant_hash" text,
	"user_id" uuid,
	"client_id" text,
	"session_id" uuid,
	"consumed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "openid_artifacts_tenant_id_kind_id_hash_pk" PRIMARY KEY("tenant_id","kind","id_hash")
);
--> statement-breakpoint
ALTER TABLE "openid_artifacts" ADD CONSTRAINT "openid_artifacts_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "openid_artifacts" ADD CONSTRAINT "openid_artifacts_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "openid_artifacts" ADD CONSTRAINT "openid_artifacts_tenant_id_session_id_sessions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","session_id") REFERENCES "public"."sessions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "openid_artifacts_grant" ON "openid_artifacts" USING btree ("tenant_id","grant_hash") WHERE "openid_artifacts"."grant_hash" is not null;--> statement-breakpoint
CREATE INDEX "openid_artifacts_session" ON "openid_artifacts" USING btree ("tenant_id","session_id") WHERE "openid_artifacts"."session_id" is not null;--> statement-breakpoint
CREATE INDEX "openid_artifacts_user" ON "openid_artifacts" USING btree ("tenant_id","user_id") WHERE "openid_artifacts"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "openid_artifacts_expires_at" ON "openid_artifacts" USING btree ("expires_at");