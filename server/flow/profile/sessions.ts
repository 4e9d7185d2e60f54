import { z } from "zod";
import type { Write } from "#db/write";
import { endSignIns } from "../../account/access-revocation.ts";
import { audit } from "../../audit/audit.ts";
import { all, circumstance } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Session } from "../../objects/session.ts";
import { describeSession, endSessionOf } from "../../sessions/session-list.ts";
import { endOtherSessions } from "../../sessions/sessions.ts";
import type { View } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import { oneOf } from "./choice.ts";
import { type ProfileContext, profileAction } from "./profile-action.ts";

/**
 * Adds the optional input that ends the user's other sessions in the same step as a change of a password or the removal
 * of a factor (OWASP ASVS 5.0, 7.4.3). It has no preset: published clients send presets unseen.
 */
export function withEndOfOthers<Shape extends z.ZodRawShape>(base: z.ZodObject<Shape>, view: View) {
  const { shown, hidden } = variantsOf(base);
  // Without revocation the input does not exist.
  if (!view.config.session.allow_revocation) return base as unknown as typeof shown;
  return view.account === null || otherSessions(view).length > 0 ? shown : hidden;
}

const variants = new WeakMap<z.ZodObject, unknown>();

/** The same schemas for the same base, whose descriptors are then computed once. */
function variantsOf<Shape extends z.ZodRawShape>(base: z.ZodObject<Shape>) {
  const build = () => ({
    shown: base.extend({ end_other_sessions: z.boolean().optional() }),
    hidden: base.extend({ end_other_sessions: z.boolean().optional().meta({ hidden: true }) }),
  });
  const known = (variants.get(base) as ReturnType<typeof build> | undefined) ?? build();
  variants.set(base, known);
  return known;
}

/** Writes that end the user's other sessions, if the user asked for that. The current session stays. */
export function endOthersIf(
  chosen: boolean | undefined,
  { request, account, data }: ProfileContext,
): Write[] {
  if (chosen !== true) return [];
  const { id } = account.profile;
  return [
    endOtherSessions(request, id, "session.delete.explicit.revoke", request.session?.id ?? data.sessionId),
    audit(request, "session_revoked", { others: true }, id),
  ];
}

const mayEnd = all(
  configured("session.allow_revocation"),
  circumstance<View>("other_sessions", (view) => otherSessions(view).length > 0, {
    holds: "the user has another session",
    fails: "the user has no other session",
  }),
);

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
        writes: [
          endSessionOf(request, id, session_id, "session.delete.explicit.revoke"),
          audit(request, "session_revoked", {}, id),
        ],
      });
    },
  }),
  session_delete_others: profileAction({
    description: "End all other sessions.",
    costs: ["write"],
    when: mayEnd,
    to: [STAY],
    run(context) {
      const { request, account } = context;
      const { id } = account.profile;
      return stay({
        writes: [(tx) => endSignIns(tx, request.tenant.id, id), ...endOthersIf(true, context)],
      });
    },
  }),
};

function otherSessions({ account, data }: View): Session[] {
  return (account?.sessions ?? []).filter(({ id }) => id !== data.sessionId);
}

function choiceOf(session: Session) {
  return { id: session.id, name: describeSession(session, "").user_agent ?? session.id };
}
