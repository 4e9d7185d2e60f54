import { type Act, type Acts, always, atState, capable, type Journey, withCodeBySms } from "./journey.ts";
import { login } from "./logins.ts";
import { signedIn } from "./profiles.ts";
import { registered, registration } from "./registrations.ts";

/** Codes by SMS are a second factor here. */
export const smsSettings = {
  STILE_PHONE_ENABLED: "true",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
  STILE_PHONE_USE_AS_LOGIN_IDENTIFIER: "false",
  STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
  STILE_MFA_SMS_ENABLED: "true",
};

const setNumber: Act = async ({ person: { phoneNumber } }) => ["phone_set", { phone: phoneNumber }];

const createSms: Acts = {
  mfa_method_chooser: always("continue_to_phone_creation"),
  mfa_phone_creation: setNumber,
  phone_confirmation: withCodeBySms,
};

export const codesBySms: Journey[] = [
  {
    name: "a registration with codes by SMS",
    type: "registration",
    acts: { ...registration, ...createSms },
    end: atState("success"),
  },
  {
    name: "a login with a code by SMS",
    type: "login",
    acts: { ...login, login_sms: withCodeBySms },
    end: atState("success"),
    prepare: registered({ ...registration, ...createSms }),
  },
  {
    name: "a phone number on the account page",
    type: "profile",
    acts: { preflight: capable, profile_init: setNumber, phone_confirmation: withCodeBySms },
    end: ({ name, payload }) =>
      name === "profile_init" && (payload.user as { phone_number?: string }).phone_number !== undefined,
    prepare: signedIn,
  },
];
