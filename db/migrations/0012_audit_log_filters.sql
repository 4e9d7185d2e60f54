DROP INDEX "audit_logs_created_at";--> statement-breakpoint
CREATE INDEX "audit_logs_created" ON "audit_logs" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_logs_type" ON "audit_logs" USING btree ("tenant_id","type","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_logs_ip_address" ON "audit_logs" USING btree ("tenant_id","ip_address","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_logs_actor" ON "audit_logs" USING btree ("tenant_id",coalesce(user_id::text, details ->> 'actor_user_id'),"created_at","id");