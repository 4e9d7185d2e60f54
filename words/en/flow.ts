import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "We could not accept this security key. Please try again, or use another one.",
  passkey_cancelled: "The security key was not used. You can try again, or choose another way.",
  passkey_failed: "Your browser could not use a security key here. Please choose another way.",
  webauthn_credential_already_exists: "This security key belongs to your account already.",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "Welcome",
      sentence: "One step and you are on your way.",
    },
    login_init: {
      title: "Sign in",
      sentence: "Good to see you again.",
      other: { flow: "registration", question: "New here?", label: "Create an account" },
    },
    login_passkey: {
      title: "Use your passkey",
      sentence:
        "Your browser is asking for it. Confirm with your fingerprint, face, screen lock or security key.",
      variants: {
        signed_in: {
          title: "Use your passkey",
          sentence: "Before you change something important, please confirm that it is you.",
        },
        security_key: {
          title: "Use your security key",
          sentence: "Your browser is asking for it. Plug it in or hold it close, then touch it.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "How would you like to sign in?",
      variants: {
        signed_in: {
          title: "Is it still you?",
          sentence: "Before you change something important, please confirm that it is you.",
        },
      },
    },
    login_password: {
      title: "Enter your password",
      variants: {
        signed_in: {
          title: "Enter your password",
          sentence: "Before you change something important, please confirm that it is you.",
        },
      },
    },
    login_password_recovery: {
      title: "Choose a new password",
      sentence: "It replaces the old one everywhere.",
    },
    passcode_confirmation: {
      title: "Check your email",
      sentence: "We sent you a code of six digits. It is good for {time}.",
      sentenceWithSubject: "We sent a code of six digits to {subject}. It is good for {time}.",
      note: "Nothing there? Please look in your spam folder, too.",
      variants: {
        letters: {
          sentence: "We sent you a code of six characters. It is good for {time}.",
          sentenceWithSubject: "We sent a code of six characters to {subject}. It is good for {time}.",
        },
      },
    },
    phone_confirmation: {
      title: "Check your phone",
      sentence: "We sent you a code of six digits by SMS. It is good for {time}.",
      sentenceWithSubject: "We sent a code of six digits by SMS to {subject}. It is good for {time}.",
    },
    password_creation: {
      title: "Set a password",
      sentence: "You can use it to sign in on any device.",
    },
    onboarding_email: {
      title: "Add your email address",
      sentence: "So that you can always get back into your account.",
      variants: {
        no_address: {
          title: "Add your email address",
          sentence:
            "The service you signed in with did not tell us your email address. With it, you can always get back into your account.",
        },
      },
    },
    onboarding_username: {
      title: "Choose a username",
      sentence: "A short name to sign in with.",
    },
    credential_onboarding_chooser: {
      title: "How will you sign in next time?",
      sentence: "You can add the other one later.",
    },
    onboarding_create_passkey: {
      title: "Sign in without a password",
      sentence:
        "A passkey lets you in with your fingerprint, face or screen lock. There is nothing to remember, and nothing that could be stolen from us.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Create your passkey",
      sentence: "Your browser is asking where to keep it. Follow its steps to finish.",
      variants: {
        security_key: {
          title: "Set up your security key",
          sentence: "Plug it in or hold it close, then follow your browser's steps.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Create your account",
      sentence: "It takes less than a minute.",
      other: { flow: "login", question: "Been here before?", label: "I have an account" },
      variants: {
        closed: {
          title: "No new accounts for now",
          sentence:
            "New accounts cannot be made here at the moment. If you have one already, you can sign in.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "One moment",
      sentence: "You sign in at the other site and come straight back.",
      actions: { exchange_token: { label: "Continue" } },
      errors: {
        form_data_invalid_error:
          "Signing in at the other site did not work. You can try again, or choose another way.",
      },
      variants: {
        rejected: { title: "That did not work", actions: { back: { label: "Other ways to sign in" } } },
        not_connected: { title: "That did not work", actions: { back: { label: "Go to your account" } } },
      },
    },
    login_otp: {
      title: "Enter the code of your app",
      sentence:
        "Open your authenticator app. It shows a code of six digits, and a new one every half minute.",
    },
    login_security_key: {
      title: "Confirm with your security key",
      sentence: "It is the second step of your sign-in. Keep the key at hand.",
      actions: {
        webauthn_generate_request_options: { label: "Use your security key" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Confirm with your phone",
      sentence: "Scan this code with the app on your phone, and confirm there that it is you.",
      actions: { continue_to_login_otp: { label: "Enter a code of six digits instead" } },
      variants: {
        waits: {
          title: "Confirm with your phone",
          sentence: "You can have a new code to scan in a moment.",
          actions: {
            authenticator_verify: { label: "Show a new code", waiting: "New code in {time}" },
            continue_to_login_otp: { label: "Enter a code of six digits instead" },
          },
          errors: {
            rate_limit_exceeded: "There were many of these codes just now. Please wait a moment.",
            authenticator_request_expired: "There were many of these codes just now. Please wait a moment.",
            authenticator_request_failed:
              "Your phone did not confirm. Wait a moment for a new code, or choose another way.",
          },
        },
      },
    },
    login_sms: {
      title: "Enter the code from the SMS",
      sentence: "It is the second step of your sign-in. We sent it to the phone number of your account.",
    },
    mfa_method_chooser: {
      title: "Add a second step",
      sentence: "Then a stolen password alone is not enough to sign in. What would you like to use?",
    },
    mfa_otp_secret_creation: {
      title: "Set up your authenticator app",
      sentence: "Scan the picture with the app, or copy the key into it. Then enter the code it shows.",
    },
    mfa_security_key_creation: {
      title: "Set up a security key",
      sentence: "A small device that you plug in or hold close. Have it ready.",
      actions: { webauthn_generate_creation_options: { label: "Set up a security key" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Set up codes by SMS",
      sentence: "We send you a code to confirm the number. Later, each sign-in asks for one.",
      actions: { phone_set: { label: "Continue" } },
    },
    device_trust: {
      title: "Is this your own device?",
      sentence: "If only you use it, we can leave out the second step here for a while.",
    },
    webauthn_credential_verification: {
      title: "Create your passkey",
      sentence: "Your browser is asking where to keep it. Follow its steps to finish.",
      variants: {
        security_key: {
          title: "Set up your security key",
          sentence: "Plug it in or hold it close, then follow your browser's steps.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "You are signed in",
      sentence: "You can close this page now.",
    },
    error: {
      title: "That did not work",
      variants: { signed_out: { title: "Please sign in" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "Continue" },
    continue_with_login_identifier: { label: "Continue" },
    register_login_identifier: { label: "Continue" },
    webauthn_generate_request_options: {
      label: "Sign in with a passkey",
      hint: "Fingerprint, face, screen lock or security key",
    },
    webauthn_generate_creation_options: { label: "Create a passkey" },
    remember_me: { label: "Keep me signed in" },
    continue_to_password_login: { label: "Enter your password", hint: "The one you set for this account" },
    continue_to_passcode_confirmation: {
      label: "Get a code by email",
      hint: "Good for a few minutes",
    },
    continue_to_phone_confirmation: { label: "Get a code by SMS", hint: "Good for a few minutes" },
    continue_to_passcode_confirmation_recovery: { label: "Forgot your password?" },
    continue_to_passkey_registration: {
      label: "With a passkey",
      hint: "Fingerprint, face or screen lock; nothing to remember",
    },
    continue_to_password_registration: { label: "With a password", hint: "Works on any device" },
    password_login: { label: "Sign in" },
    password_recovery: { label: "Save new password" },
    register_password: { label: "Save password" },
    verify_passcode: { label: "Confirm" },
    resend_passcode: {
      label: "Send a new code",
      waiting: "New code in {time}",
      done: "A new code is on its way. The old one no longer works.",
    },
    email_address_set: { label: "Continue" },
    username_set: { label: "Continue" },
    skip: { label: "Not now" },
    back: { label: "Back" },
    thirdparty_oauth: { label: "Continue with" },
    exchange_token: { label: "Continue" },
    otp_code_validate: { label: "Confirm" },
    otp_code_verify: { label: "Confirm" },
    recovery_code_validate: {
      label: "Use a recovery code",
      hint: "One of the codes you saved when you set up your second step. Each works once.",
      submit: "Use this code",
    },
    continue_to_login_otp: { label: "Use a code of your app instead" },
    continue_to_login_security_key: { label: "Use a security key instead" },
    continue_to_login_method_chooser: { label: "Other ways to sign in" },
    continue_to_login_authenticator: { label: "Confirm with your phone instead" },
    authenticator_verify: { label: "I have confirmed" },
    continue_to_otp_secret_creation: {
      label: "An authenticator app",
      hint: "Shows a new code every half minute; on your phone",
    },
    continue_to_security_key_creation: {
      label: "A security key",
      hint: "A small device that you plug in or hold close",
    },
    continue_to_phone_creation: { label: "Codes by SMS", hint: "To your phone number; an app is safer" },
    consent_allow: { label: "Allow" },
    consent_deny: { label: "Do not allow" },
    device_code_verify: { label: "Continue" },
    trust_device: { label: "Yes, trust this device" },
    phone_set: { label: "Set", submit: "Continue", done: "The phone number is set." },
    username_create: { label: "Choose a username", submit: "Save", done: "Your username is set." },
  },
  inputs: {
    user_code: {
      label: "Code",
      errors: { value_invalid_error: "This code is wrong, has expired, or was used." },
    },
    identifier: { label: "Email or username" },
    email: {
      label: "Email",
      errors: { value_invalid_error: "This does not look like an email address. Is there a typing error?" },
    },
    username: { label: "Username" },
    phone: {
      label: "Phone number",
      hint: "With the country code, such as +49 151 23456789",
      errors: {
        value_invalid_error: "This does not look like a phone number. Does it begin with the country code?",
      },
    },
    password: {
      label: "Password",
      errors: { value_invalid_error: "This password does not match. Please try again." },
    },
    new_password: {
      label: "New password",
      hint: "At least {min} characters. A few words in a row make a good one.",
      errors: { value_invalid_error: "This password is used too often to be safe. Please choose another." },
    },
    code: { label: "Code", errors: { value_too_short_error: "Please enter the whole code." } },
    remember_me: { label: "Keep me signed in" },
    provider: { label: "Continue with" },
    otp_code: {
      label: "Code",
      errors: {
        value_too_short_error: "The code has six digits.",
        passcode_invalid: "This code does not match. Please look at your app once more.",
      },
    },
    recovery_code: { label: "Recovery code" },
  },
  errors: {
    form_data_invalid_error: "Please check what you entered.",
    value_missing_error: "Please fill this in.",
    value_invalid_error: "This cannot be right. Please check it.",
    value_too_short_error: "Please use at least {min} characters.",
    value_too_long_error: "Please use at most {max} characters.",
    email_already_exists: "There is already an account with this email address.",
    username_already_exists: "This username is taken. Please choose another.",
    unknown_email_error: "We know no account with this email address.",
    unknown_username_error: "We know no account with this username.",
    phone_number_already_exists: "There is already an account with this phone number.",
    phone_number_not_allowed:
      "Codes cannot be sent to this number. Please use the number of a mobile phone in a country that is served here.",
    unknown_phone_number_error: "We know no account with this phone number.",
    invalid_username_error: "A username has letters, digits and underscores only.",
    passcode_invalid: "This is not the code we sent, or it is too old. Please check it.",
    passcode_max_attempts_reached: "That was one try too many. Please ask for a new code.",
    passkey_invalid: "We could not accept this passkey. Please try again, or sign in another way.",
    webauthn_credential_invalid_mfa_only:
      "This security key is a second step only. Please sign in another way first.",
    operation_not_permitted_error:
      "This step is no longer open. It may have been finished in another window.",
    flow_discontinuity_error: "There is no way to go on from here. Please start again.",
    flow_expired_error: "You were away for a while, so we closed this page for your safety.",
    rate_limit_exceeded: "That was a little fast. Please wait a moment, then try again.",
    temporarily_unavailable: "That did not work just now. Nothing is lost: please try again in a moment.",
    technical_error: "Something went wrong on our side. It is not your fault. Please try again.",
    unauthorized: "Your account is shown to you alone. Sign in to see it.",
    forbidden: "This is not available here.",
    not_found: "It is no longer there. Perhaps you removed it in another window.",
    platform_authenticator_required:
      "Your account asks for a second step that this device cannot do. Please use another device.",
    user_conflict:
      "There is already an account with this email address. Sign in to it first, then connect the other one there.",
    account_blocked: "This account is blocked. Please ask the service that it belongs to.",
    signup_disabled: "New accounts cannot be made here at the moment.",
    third_party_access_denied: "You turned back, or the other site did not let you in. You can try again.",
    identity_not_linked: "That is not the account that is connected here. Use the one that is.",
    identity_already_linked: "This account is already connected to another user's.",
    otp_code_invalid: "This code does not match. Please look at your app once more.",
    otp_code_already_used: "This code was used already. Please wait for the next one.",
    recovery_code_invalid: "This is not one of your recovery codes, or it was used already.",
    authenticator_request_pending:
      "Your phone has not confirmed yet. Please scan the code, and confirm there.",
    authenticator_request_failed:
      "Your phone did not confirm. Scan the new code to try again, or choose another way.",
    authenticator_request_expired: "The code had run out. Please scan the new one.",
    invalid_metadata_error: "This has to be a JSON object of at most 3000 characters.",
    webauthn_credential_already_exists: "There is already a passkey for this account on this device.",
    passkey_cancelled: "The passkey was not used. You can try again, or choose another way.",
    passkey_failed: "Your browser could not use a passkey here. Please choose another way.",
    connection_lost: "We have lost the connection. Trying again…",
    connection_missing: "We cannot reach the service. Please check your connection.",
    origin_refused:
      "This page cannot show the sign-in: the service does not know its address. Its makers can mend this.",
    connection_back: "We are connected again. Please repeat your last step.",
    cookies_blocked:
      "Your browser keeps no cookies for this page, and signing in needs one. Please allow them, then load the page again.",
    page_out_of_date: "You went on elsewhere, so we brought this page up to date.",
    proved_again: "Thank you. You can now change what you wanted to change.",
    page_renewed: "You were away for a while, so we started afresh.",
    not_json: "This is not valid JSON.",
    third_party_failed:
      "Signing in at the other site did not work. You can try again, or choose another way.",
    multiple_accounts: "The email address of the other account belongs to another user here.",
    unverified_email: "The other site has not confirmed your email address. Please confirm it there first.",
    email_maxnum: "Your account has as many email addresses as it may have.",
  },
  links: { terms: "Terms of service", privacy: "Privacy policy", help: "Help" },
  consent: {
    terms: "By signing up you accept the {link}.",
    privacy: "The {link} says how your data is used.",
  },
  page: {
    ...messages,
    account: "Account",
    useAnother: "Use another account",
    supportNumber: "Support number",
    signInInstead: "Sign in with this address",
    waitingForBrowser: "Waiting for your browser…",
    nothingHappens: "Nothing happening? Try again, or go back and choose another way.",
    optional: "optional",
    or: "or",
    showPassword: "Show password",
    hidePassword: "Hide password",
    apply: "Apply",
    choose: "Please choose",
    startAgain: "Start again",
    tryAgain: "Try again",
    tryAgainIn: "Try again in {time}",
    waitFor: "You can try again in {time}.",
    signedInAs: "Signed in as",
    returning: "Taking you back to {host}…",
    nothingToDo: "There is nothing to do here at the moment.",
    languages: "Language",
    working: "One moment…",
    secret: "Key",
    qrCode: "QR code to scan with your app",
    waitingForAuthenticator: "Waiting for your phone. This page goes on by itself.",
    errorTitle: "Something broke on this page",
    reload: "Load it again",
    toSignIn: "Go to sign-in",
    toAccount: "Go to your account",
    signIn: "Sign in",
    continueAt: "Continue at {host}",
    continueWith: "Continue with {provider}",
    copy: "Copy",
    copied: "Copied",
    download: "Download",
    print: "Print",
    recoveryCodes: "Your recovery codes",
    recoveryCodesSentence:
      "Should you lose your second step, one of these lets you in. Each works once. Keep them in a safe place: we show them only now.",
    recoveryCodesFile: "recovery codes",
    saved: "I have saved them",
    confirm: "Are you sure?",
    cancel: "Cancel",
  },
};

export const flow = withAccount(signIn, account);
