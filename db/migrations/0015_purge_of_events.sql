DROP INDEX "events_created_at";--> statement-breakpoint
CREATE INDEX "events_purge" ON "events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "events_sealed" ON "events" USING btree ("created_at") WHERE "events"."sealed_data" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_failed" ON "webhook_deliveries" USING btree ("tenant_id","webhook","created_at") WHERE "webhook_deliveries"."state" = 'failed';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_purge" ON "webhook_deliveries" USING btree ("created_at");