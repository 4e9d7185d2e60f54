-- Rolls the statement back, for the reason; does nothing without one.
CREATE FUNCTION "refuse"("reason" text) RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'SR001', MESSAGE = "reason";
END
$$;
