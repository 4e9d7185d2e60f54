-- Each use of a credential updates its row (sign count, last use). With room in its page the update writes no index entry
-- (HOT). Pages that are full already get the room when their rows are next written.
ALTER TABLE "webauthn_credentials" SET (fillfactor = 90);
