-- Recovery codes were kept here after they had been shown.
UPDATE "flows" SET "sealed_payload" = NULL WHERE "state" IN ('success', 'profile_init');
