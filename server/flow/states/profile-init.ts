import { profilePayload } from "../../account/account.ts";
import { replaceRecoveryCodes } from "../../methods/recovery-code/recovery-codes.ts";
import { applicationsPayload } from "../authorization.ts";
import { type Context, type Entered, state } from "../define.ts";
import { applicationActions } from "../profile/applications.ts";
import { credentialActions } from "../profile/credentials.ts";
import { deletionActions } from "../profile/deletion.ts";
import { emailActions } from "../profile/emails.ts";
import { identityActions } from "../profile/identities.ts";
import { metadataActions } from "../profile/metadata.ts";
import { nameActions } from "../profile/name.ts";
import { passwordActions } from "../profile/password.ts";
import { phoneActions } from "../profile/phone.ts";
import { pictureActions } from "../profile/picture.ts";
import { secondFactorActions } from "../profile/second-factors.ts";
import { sessionActions } from "../profile/sessions.ts";
import { usernameActions } from "../profile/username.ts";
import { completeStepUp, recordEnrolment } from "../step-up.ts";

/** The profile page of a signed-in user. Its payload is derived from the current account. */
export const profileInit = state({
  name: "profile_init",
  needs: ["userId"],
  shows: ({ account, config, data }) =>
    account
      ? {
          ...profilePayload(account, { config, currentSessionId: data.sessionId ?? "" }),
          ...applicationsPayload(account, config),
        }
      : {},
  async enter(context) {
    const { data, writes, ...reauthenticated } = await completeStepUp(context);
    const recorded = recordEnrolment(context);
    const recovery = firstRecoveryCodes(context);
    return {
      ...reauthenticated,
      ...recovery,
      data: { ...data, ...recovery.data },
      writes: [{ writes }, recorded, recovery].flatMap(({ writes = [] }) => writes),
    };
  },
  actions: () => ({
    ...nameActions,
    ...pictureActions,
    ...emailActions,
    ...usernameActions,
    ...phoneActions,
    ...passwordActions,
    ...credentialActions,
    ...secondFactorActions,
    ...identityActions,
    ...sessionActions,
    ...applicationActions,
    ...metadataActions,
    ...deletionActions,
  }),
});

/** Creates recovery codes with the first second factor of an account. */
function firstRecoveryCodes({
  request,
  data,
  facts,
  config,
}: Context<"userId">): Pick<Entered, "data" | "once" | "writes"> {
  if (!data.enrolled) return {};
  const cleared = { data: { enrolled: undefined } };
  if (!config.mfa.recovery_codes || facts.hasRecoveryCode) return cleared;
  const { codes, write } = replaceRecoveryCodes(request, data.userId);
  return { ...cleared, once: { recovery_codes: codes }, writes: [write] };
}
