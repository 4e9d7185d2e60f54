CREATE TABLE "user_handles" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"handle" "bytea" NOT NULL,
	"expires_at" timestamp (3) with time zone,
	CONSTRAINT "user_handles_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "passkey_users" ADD COLUMN "user_handle" "bytea";--> statement-breakpoint
ALTER TABLE "user_handles" ADD CONSTRAINT "user_handles_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "user_handles_handle" ON "user_handles" USING btree ("handle");--> statement-breakpoint
CREATE INDEX "user_handles_expires_at" ON "user_handles" USING btree ("expires_at") WHERE "user_handles"."expires_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "passkey_users_user_handle" ON "passkey_users" USING btree ("user_handle");