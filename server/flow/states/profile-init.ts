import { profilePayload } from "../../account/account.ts";
import { replaceRecoveryCodes } from "../../credentials/recovery-codes.ts";
import { type Context, type Entered, state } from "../define.ts";
import { credentialActions } from "../profile/credentials.ts";
import { deletionActions } from "../profile/deletion.ts";
import { emailActions } from "../profile/emails.ts";
import { identityActions } from "../profile/identities.ts";
import { metadataActions } from "../profile/metadata.ts";
import { passwordActions } from "../profile/password.ts";
import { factorActions } from "../profile/second-factors.ts";
import { sessionActions } from "../profile/sessions.ts";
import { usernameActions } from "../profile/username.ts";
import { finishStepUp, noteEnrolment } from "../step-up.ts";

/** Somebody who is signed in looks after their account. Its payload is made of the account, after every change. */
export const profileInit = state({
  name: "profile_init",
  needs: ["userId"],
  shows: ({ account, config, data }) =>
    account ? profilePayload(account, { config, currentSessionId: data.sessionId ?? "" }) : {},
  async enter(context) {
    const proved = finishStepUp(context);
    const noted = noteEnrolment(context);
    const handed = firstRecoveryCodes(context);
    return {
      ...handed,
      data: { ...proved.data, ...handed.data },
      writes: [proved, noted, handed].flatMap(({ writes = [] }) => writes),
    };
  },
  actions: () => ({
    ...emailActions,
    ...usernameActions,
    ...passwordActions,
    ...credentialActions,
    ...factorActions,
    ...identityActions,
    ...sessionActions,
    ...metadataActions,
    ...deletionActions,
  }),
});

/** The first second factor brings the codes that stand in for it once it is lost. */
function firstRecoveryCodes({
  request,
  data,
  facts,
  config,
}: Context<"userId">): Pick<Entered, "data" | "secrets" | "writes"> {
  if (!data.enrolled) return {};
  const settled = { data: { enrolled: undefined } };
  if (!config.mfa.recovery_codes || facts.hasRecoveryCode) return settled;
  const { codes, write } = replaceRecoveryCodes(request, data.userId);
  return { ...settled, secrets: { recovery_codes: codes }, writes: [write] };
}
