-- Release 0.2 may run beside later ones and does not know blocked accounts: the database refuses their sessions. The
-- lock is that of the account, so that a session and a block that come at once see each other.
CREATE FUNCTION "refuse_session_of_blocked"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "public"."users" WHERE "tenant_id" = NEW."tenant_id" AND "id" = NEW."user_id" FOR SHARE;
  IF EXISTS (
    SELECT FROM "public"."users"
    WHERE "tenant_id" = NEW."tenant_id" AND "id" = NEW."user_id" AND "blocked_at" IS NOT NULL
  ) THEN
    RAISE EXCEPTION USING ERRCODE = '23514', MESSAGE = 'the account is blocked', CONSTRAINT = 'sessions_of_blocked';
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "refuse_session_of_blocked" BEFORE INSERT ON "sessions"
FOR EACH ROW EXECUTE FUNCTION "refuse_session_of_blocked"();
