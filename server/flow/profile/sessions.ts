import { z } from "zod";
import { endSignIns } from "../../account/access-revocation.ts";
import { audit } from "../../audit/audit.ts";
import type { Session } from "../../sessions/session.ts";
import { describeSession, endSessionOf } from "../../sessions/session-list.ts";
import { endOtherSessions } from "../../sessions/sessions.ts";
import type { View } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import { oneOf } from "./choice.ts";
import { type ProfileView, profileAction } from "./profile-action.ts";

/** Profile actions on the user's other sessions. */
export const sessionActions = {
  session_delete: profileAction({
    description: "End another session.",
    costs: ["write"],
    input: (view) => z.strictObject({ session_id: oneOf(otherSessions(view).map(choiceOf)) }),
    when: mayEnd,
    to: [STAY],
    run({ request, account }, { session_id }) {
      const { id } = account.profile;
      return stay({
        writes: [endSessionOf(request, id, session_id), audit(request, "session_revoked", {}, id)],
      });
    },
  }),
  session_delete_others: profileAction({
    description: "End all other sessions.",
    costs: ["write"],
    when: mayEnd,
    to: [STAY],
    run({ request, account, data }) {
      const { id } = account.profile;
      return stay({
        writes: [
          (tx) => endSignIns(tx, request.tenant.id, id),
          (tx) => endOtherSessions(tx, request.tenant.id, id, request.session?.id ?? data.sessionId),
          audit(request, "session_revoked", { others: true }, id),
        ],
      });
    },
  }),
};

function mayEnd(view: ProfileView): boolean {
  return view.config.session.allow_revocation && otherSessions(view).length > 0;
}

function otherSessions({ account, data }: View): Session[] {
  return (account?.sessions ?? []).filter(({ id }) => id !== data.sessionId);
}

function choiceOf(session: Session) {
  return { id: session.id, name: describeSession(session, "").user_agent ?? session.id };
}
