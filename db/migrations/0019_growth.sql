DROP INDEX "failures_last_at";--> statement-breakpoint
DROP INDEX "audit_logs_created";--> statement-breakpoint
DROP INDEX "webhook_deliveries_purge";--> statement-breakpoint
DROP INDEX "authenticator_requests_flow";--> statement-breakpoint
-- Of a long log, the operator may have built it without a lock: docs/large-databases.md.
CREATE UNIQUE INDEX IF NOT EXISTS "audit_logs_pkey" ON "audit_logs" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
ALTER TABLE "audit_logs" DROP CONSTRAINT "audit_logs_tenant_id_id_pk";--> statement-breakpoint
ALTER TABLE "audit_logs" ADD CONSTRAINT "audit_logs_pkey" PRIMARY KEY USING INDEX "audit_logs_pkey";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "exchange_tokens_user" ON "exchange_tokens" USING btree ("tenant_id","user_id") WHERE "exchange_tokens"."user_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "failures_expiry" ON "failures" USING btree (((last_at at time zone 'UTC') + case when source not in ('', 'known') or consecutive = 0 then interval '2 days' else interval '1 year' end));--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "third_party_requests_user" ON "third_party_requests" USING btree ("tenant_id","user_id") WHERE "third_party_requests"."user_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "webauthn_challenges_user" ON "webauthn_challenges" USING btree ("tenant_id","user_id") WHERE "webauthn_challenges"."user_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "passkey_challenges_user" ON "passkey_challenges" USING btree ("tenant_id","user_id") WHERE "passkey_challenges"."user_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "passkey_challenges_transaction" ON "passkey_challenges" USING btree ("tenant_id","transaction_id") WHERE "passkey_challenges"."transaction_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "transaction_confirmations_sealed" ON "transaction_confirmations" USING btree ("expires_at") WHERE "transaction_confirmations"."sealed_result" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "handover_codes_session" ON "handover_codes" USING btree ("tenant_id","session_id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "handover_codes_expires_at" ON "handover_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "authenticator_requests_flow" ON "authenticator_requests" USING btree ("tenant_id","flow_id") WHERE "authenticator_requests"."flow_id" is not null;