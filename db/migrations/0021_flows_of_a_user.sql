DROP INDEX "flows_user";--> statement-breakpoint
CREATE INDEX "flows_user" ON "flows" USING btree ("tenant_id","user_id") WHERE "flows"."user_id" is not null;