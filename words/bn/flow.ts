import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "এই সিকিউরিটি কী গ্রহণ করা যায়নি। আবার চেষ্টা করুন, অথবা অন্য একটি ব্যবহার করুন।",
  passkey_cancelled: "সিকিউরিটি কী ব্যবহার করা হয়নি। আবার চেষ্টা করুন, অথবা অন্য উপায় বেছে নিন।",
  passkey_failed: "আপনার ব্রাউজার এখানে সিকিউরিটি কী ব্যবহার করতে পারেনি। অন্য উপায় বেছে নিন।",
  webauthn_credential_already_exists: "এই সিকিউরিটি কী আগে থেকেই আপনার অ্যাকাউন্টে আছে।",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "স্বাগতম",
      sentence: "আর একটি ধাপ, তারপরই শুরু।",
    },
    login_init: {
      title: "সাইন ইন",
      sentence: "আপনাকে আবার দেখে ভালো লাগল।",
      other: { flow: "registration", question: "এখানে নতুন?", label: "অ্যাকাউন্ট তৈরি করুন" },
    },
    login_passkey: {
      title: "পাসকী ব্যবহার করুন",
      sentence: "আপনার ব্রাউজার পাসকী চাইছে। আঙুলের ছাপ, মুখ, স্ক্রিন লক বা সিকিউরিটি কী দিয়ে নিশ্চিত করুন।",
      variants: {
        signed_in: {
          title: "পাসকী ব্যবহার করুন",
          sentence: "গুরুত্বপূর্ণ কিছু পরিবর্তনের আগে নিশ্চিত করুন যে এটি আপনিই।",
        },
        security_key: {
          title: "সিকিউরিটি কী ব্যবহার করুন",
          sentence: "আপনার ব্রাউজার সিকিউরিটি কী চাইছে। এটি লাগান বা কাছে ধরুন, তারপর স্পর্শ করুন।",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "আপনি কীভাবে সাইন ইন করতে চান?",
      variants: {
        signed_in: {
          title: "এখনও কি আপনিই আছেন?",
          sentence: "গুরুত্বপূর্ণ কিছু পরিবর্তনের আগে নিশ্চিত করুন যে এটি আপনিই।",
        },
      },
    },
    login_password: {
      title: "পাসওয়ার্ড লিখুন",
      variants: {
        signed_in: {
          title: "পাসওয়ার্ড লিখুন",
          sentence: "গুরুত্বপূর্ণ কিছু পরিবর্তনের আগে নিশ্চিত করুন যে এটি আপনিই।",
        },
      },
    },
    login_password_recovery: {
      title: "নতুন পাসওয়ার্ড বেছে নিন",
      sentence: "এটি সব জায়গায় পুরনো পাসওয়ার্ডের বদলে কাজ করবে।",
    },
    passcode_confirmation: {
      title: "আপনার ইমেইল দেখুন",
      sentence: "আমরা আপনাকে ছয় অঙ্কের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
      sentenceWithSubject: "আমরা {subject} ঠিকানায় ছয় অঙ্কের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
      note: "পাননি? অনুগ্রহ করে স্প্যাম ফোল্ডারেও দেখুন।",
      variants: {
        letters: {
          sentence: "আমরা আপনাকে ছয় অক্ষরের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
          sentenceWithSubject: "আমরা {subject} ঠিকানায় ছয় অক্ষরের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
        },
      },
    },
    phone_confirmation: {
      title: "আপনার ফোন দেখুন",
      sentence: "আমরা আপনাকে এসএমএসে ছয় অঙ্কের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
      sentenceWithSubject: "আমরা {subject} নম্বরে এসএমএসে ছয় অঙ্কের একটি কোড পাঠিয়েছি। এটি {time} কার্যকর থাকবে।",
    },
    password_creation: {
      title: "পাসওয়ার্ড সেট করুন",
      sentence: "এটি দিয়ে যেকোনো ডিভাইসে সাইন ইন করতে পারবেন।",
    },
    onboarding_email: {
      title: "আপনার ইমেইল ঠিকানা যোগ করুন",
      sentence: "যাতে আপনি সবসময় নিজের অ্যাকাউন্টে ফিরতে পারেন।",
      variants: {
        no_address: {
          title: "আপনার ইমেইল ঠিকানা যোগ করুন",
          sentence:
            "আপনি যে পরিষেবা দিয়ে সাইন ইন করেছেন, সেটি আমাদের আপনার ইমেইল ঠিকানা জানায়নি। ঠিকানাটি থাকলে আপনি সবসময় নিজের অ্যাকাউন্টে ফিরতে পারবেন।",
        },
      },
    },
    onboarding_username: {
      title: "ইউজারনেম বেছে নিন",
      sentence: "সাইন ইন করার জন্য একটি ছোট নাম।",
    },
    credential_onboarding_chooser: {
      title: "পরের বার কীভাবে সাইন ইন করবেন?",
      sentence: "অন্য উপায়টি পরে যোগ করতে পারবেন।",
    },
    onboarding_create_passkey: {
      title: "পাসওয়ার্ড ছাড়াই সাইন ইন করুন",
      sentence:
        "পাসকী থাকলে আঙুলের ছাপ, মুখ বা স্ক্রিন লকই যথেষ্ট। কিছু মনে রাখতে হবে না, আর আমাদের কাছ থেকে চুরি হওয়ার মতো কিছু নেই।",
    },
    onboarding_verify_passkey_attestation: {
      title: "পাসকী তৈরি করুন",
      sentence: "আপনার ব্রাউজার জানতে চাইছে এটি কোথায় রাখা হবে। শেষ করতে নির্দেশনা অনুসরণ করুন।",
      variants: {
        security_key: {
          title: "সিকিউরিটি কী সেট আপ করুন",
          sentence: "এটি লাগান বা কাছে ধরুন, তারপর ব্রাউজারের নির্দেশনা অনুসরণ করুন।",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "অ্যাকাউন্ট তৈরি করুন",
      sentence: "এক মিনিটেরও কম সময় লাগবে।",
      other: { flow: "login", question: "আগে এখানে এসেছেন?", label: "আমার অ্যাকাউন্ট আছে" },
      variants: {
        closed: {
          title: "এখন নতুন অ্যাকাউন্ট নেই",
          sentence: "এখন এখানে নতুন অ্যাকাউন্ট তৈরি করা যাচ্ছে না। আগে থেকে অ্যাকাউন্ট থাকলে সাইন ইন করতে পারেন।",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "একটু অপেক্ষা করুন",
      sentence: "আপনি অন্য সাইটে সাইন ইন করে সরাসরি এখানে ফিরে আসবেন।",
      actions: { exchange_token: { label: "চালিয়ে যান" } },
      errors: {
        form_data_invalid_error: "অন্য সাইটে সাইন ইন করা যায়নি। আবার চেষ্টা করুন, অথবা অন্য উপায় বেছে নিন।",
      },
      variants: {
        rejected: { title: "এটি সফল হয়নি", actions: { back: { label: "সাইন ইনের অন্য উপায়" } } },
        not_connected: { title: "এটি সফল হয়নি", actions: { back: { label: "আপনার অ্যাকাউন্টে যান" } } },
      },
    },
    login_otp: {
      title: "অ্যাপের কোড লিখুন",
      sentence: "আপনার অথেন্টিকেটর অ্যাপ খুলুন। এতে ছয় সংখ্যার একটি কোড দেখা যায়, প্রতি আধ মিনিটে নতুন।",
    },
    login_security_key: {
      title: "সিকিউরিটি কী দিয়ে নিশ্চিত করুন",
      sentence: "এটি সাইন ইনের দ্বিতীয় ধাপ। কী-টি হাতের কাছে রাখুন।",
      actions: {
        webauthn_generate_request_options: { label: "সিকিউরিটি কী ব্যবহার করুন" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "ফোন দিয়ে নিশ্চিত করুন",
      sentence: "ফোনের অ্যাপ দিয়ে এই কোডটি স্ক্যান করুন, এবং সেখানে নিশ্চিত করুন যে এটি আপনিই।",
      actions: { continue_to_login_otp: { label: "বরং ছয় সংখ্যার কোড লিখুন" } },
      variants: {
        waits: {
          title: "ফোন দিয়ে নিশ্চিত করুন",
          sentence: "একটু পরেই স্ক্যান করার জন্য নতুন কোড পাবেন।",
          actions: {
            authenticator_verify: { label: "নতুন কোড দেখান", waiting: "{time} পরে নতুন কোড" },
            continue_to_login_otp: { label: "বরং ছয় সংখ্যার কোড লিখুন" },
          },
          errors: {
            rate_limit_exceeded: "এইমাত্র অনেকগুলো কোড চাওয়া হয়েছে। একটু অপেক্ষা করুন।",
            authenticator_request_expired: "এইমাত্র অনেকগুলো কোড চাওয়া হয়েছে। একটু অপেক্ষা করুন।",
            authenticator_request_failed:
              "আপনার ফোন নিশ্চিত করেনি। নতুন কোডের জন্য একটু অপেক্ষা করুন, অথবা অন্য উপায় বেছে নিন।",
          },
        },
      },
    },
    login_sms: {
      title: "এসএমএসের কোড লিখুন",
      sentence: "এটি আপনার সাইন ইনের দ্বিতীয় ধাপ। আমরা এটি আপনার অ্যাকাউন্টের ফোন নম্বরে পাঠিয়েছি।",
    },
    mfa_method_chooser: {
      title: "দ্বিতীয় ধাপ যোগ করুন",
      sentence: "তখন শুধু চুরি করা পাসওয়ার্ড দিয়ে কেউ ঢুকতে পারবে না। আপনি কী ব্যবহার করতে চান?",
    },
    mfa_otp_secret_creation: {
      title: "অথেন্টিকেটর অ্যাপ সেট আপ করুন",
      sentence: "অ্যাপ দিয়ে ছবিটি স্ক্যান করুন, অথবা কী-টি অ্যাপে কপি করুন। তারপর অ্যাপে দেখানো কোড লিখুন।",
    },
    mfa_security_key_creation: {
      title: "সিকিউরিটি কী সেট আপ করুন",
      sentence: "একটি ছোট ডিভাইস, যা লাগাতে বা কাছে ধরতে হয়। এটি হাতের কাছে রাখুন।",
      actions: { webauthn_generate_creation_options: { label: "সিকিউরিটি কী সেট আপ করুন" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "এসএমএসে কোড সেট আপ করুন",
      sentence: "নম্বরটি নিশ্চিত করতে আমরা আপনাকে একটি কোড পাঠাব। এরপর প্রতিবার সাইন ইন করার সময় একটি কোড চাওয়া হবে।",
      actions: { phone_set: { label: "চালিয়ে যান" } },
    },
    device_trust: {
      title: "এটি কি আপনার নিজের ডিভাইস?",
      sentence: "শুধু আপনিই এটি ব্যবহার করলে, এখানে কিছুদিন দ্বিতীয় ধাপ বাদ রাখা যায়।",
    },
    webauthn_credential_verification: {
      title: "পাসকী তৈরি করুন",
      sentence: "আপনার ব্রাউজার জানতে চাইছে এটি কোথায় রাখা হবে। শেষ করতে নির্দেশনা অনুসরণ করুন।",
      variants: {
        security_key: {
          title: "সিকিউরিটি কী সেট আপ করুন",
          sentence: "এটি লাগান বা কাছে ধরুন, তারপর ব্রাউজারের নির্দেশনা অনুসরণ করুন।",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "আপনি সাইন ইন করেছেন",
      sentence: "এখন এই পৃষ্ঠাটি বন্ধ করতে পারেন।",
    },
    error: {
      title: "এটি সফল হয়নি",
      variants: { signed_out: { title: "সাইন ইন করুন" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "চালিয়ে যান" },
    continue_with_login_identifier: { label: "চালিয়ে যান" },
    register_login_identifier: { label: "চালিয়ে যান" },
    webauthn_generate_request_options: {
      label: "পাসকী দিয়ে সাইন ইন করুন",
      hint: "আঙুলের ছাপ, মুখ, স্ক্রিন লক বা সিকিউরিটি কী",
    },
    webauthn_generate_creation_options: { label: "পাসকী তৈরি করুন" },
    remember_me: { label: "সাইন ইন অবস্থায় রাখুন" },
    continue_to_password_login: {
      label: "পাসওয়ার্ড লিখুন",
      hint: "এই অ্যাকাউন্টের জন্য আপনার সেট করা পাসওয়ার্ড",
    },
    continue_to_passcode_confirmation: {
      label: "ইমেইলে কোড নিন",
      hint: "কয়েক মিনিট কার্যকর",
    },
    continue_to_phone_confirmation: { label: "এসএমএসে কোড নিন", hint: "কয়েক মিনিট কার্যকর" },
    continue_to_passcode_confirmation_recovery: { label: "পাসওয়ার্ড ভুলে গেছেন?" },
    continue_to_passkey_registration: {
      label: "পাসকী দিয়ে",
      hint: "আঙুলের ছাপ, মুখ বা স্ক্রিন লক; কিছু মনে রাখতে হবে না",
    },
    continue_to_password_registration: { label: "পাসওয়ার্ড দিয়ে", hint: "যেকোনো ডিভাইসে কাজ করে" },
    password_login: { label: "সাইন ইন করুন" },
    password_recovery: { label: "নতুন পাসওয়ার্ড সংরক্ষণ করুন" },
    register_password: { label: "পাসওয়ার্ড সংরক্ষণ করুন" },
    verify_passcode: { label: "নিশ্চিত করুন" },
    resend_passcode: {
      label: "নতুন কোড পাঠান",
      waiting: "{time} পরে নতুন কোড",
      done: "নতুন কোড পাঠানো হয়েছে। পুরনোটি আর কাজ করবে না।",
    },
    email_address_set: { label: "চালিয়ে যান" },
    username_set: { label: "চালিয়ে যান" },
    skip: { label: "এখন নয়" },
    back: { label: "ফিরে যান" },
    thirdparty_oauth: { label: "এর মাধ্যমে চালিয়ে যান" },
    exchange_token: { label: "চালিয়ে যান" },
    otp_code_validate: { label: "নিশ্চিত করুন" },
    otp_code_verify: { label: "নিশ্চিত করুন" },
    recovery_code_validate: {
      label: "পুনরুদ্ধার কোড ব্যবহার করুন",
      hint: "দ্বিতীয় ধাপ সেট আপ করার সময় সংরক্ষণ করা কোডগুলোর একটি। প্রতিটি একবার কাজ করে।",
      submit: "এই কোড ব্যবহার করুন",
    },
    continue_to_login_otp: { label: "বরং অ্যাপের কোড ব্যবহার করুন" },
    continue_to_login_security_key: { label: "বরং সিকিউরিটি কী ব্যবহার করুন" },
    continue_to_login_method_chooser: { label: "সাইন ইনের অন্য উপায়" },
    continue_to_login_authenticator: { label: "বরং ফোন দিয়ে নিশ্চিত করুন" },
    authenticator_verify: { label: "আমি নিশ্চিত করেছি" },
    continue_to_otp_secret_creation: {
      label: "একটি অথেন্টিকেটর অ্যাপ",
      hint: "আপনার ফোনে প্রতি আধ মিনিটে একটি নতুন কোড দেখায়",
    },
    continue_to_security_key_creation: {
      label: "একটি সিকিউরিটি কী",
      hint: "একটি ছোট ডিভাইস, যা লাগাতে বা কাছে ধরতে হয়",
    },
    continue_to_phone_creation: { label: "এসএমএসে কোড", hint: "আপনার ফোন নম্বরে; অ্যাপ বেশি নিরাপদ" },
    consent_allow: { label: "অনুমতি দিন" },
    consent_deny: { label: "অনুমতি দেবেন না" },
    device_code_verify: { label: "এগিয়ে যান" },
    trust_device: { label: "হ্যাঁ, এই ডিভাইসে আস্থা রাখুন" },
    phone_set: { label: "সেট করুন", submit: "চালিয়ে যান", done: "ফোন নম্বর সেট করা হয়েছে।" },
    username_create: {
      label: "ইউজারনেম বেছে নিন",
      submit: "সংরক্ষণ করুন",
      done: "আপনার ইউজারনেম সেট করা হয়েছে।",
    },
  },
  inputs: {
    user_code: { label: "কোড", errors: { value_invalid_error: "এই কোডটি ভুল, মেয়াদোত্তীর্ণ বা আগে ব্যবহৃত।" } },
    identifier: { label: "ইমেইল বা ইউজারনেম" },
    email: {
      label: "ইমেইল",
      errors: { value_invalid_error: "এটি ইমেইল ঠিকানার মতো দেখাচ্ছে না। টাইপ করতে ভুল হয়েছে কি?" },
    },
    username: { label: "ইউজারনেম" },
    phone: {
      label: "ফোন নম্বর",
      hint: "দেশের কোডসহ, যেমন +880 1812-345678",
      errors: { value_invalid_error: "এটি ফোন নম্বরের মতো দেখাচ্ছে না। এটি কি দেশের কোড দিয়ে শুরু হয়েছে?" },
    },
    password: {
      label: "পাসওয়ার্ড",
      errors: { value_invalid_error: "পাসওয়ার্ডটি মেলেনি। আবার চেষ্টা করুন।" },
    },
    new_password: {
      label: "নতুন পাসওয়ার্ড",
      hint: "অন্তত {min}টি অক্ষর। পরপর কয়েকটি শব্দ দিলে ভালো হয়।",
      errors: { value_invalid_error: "এই পাসওয়ার্ড খুব প্রচলিত, তাই নিরাপদ নয়। অন্য একটি বেছে নিন।" },
    },
    code: { label: "কোড", errors: { value_too_short_error: "অনুগ্রহ করে পুরো কোডটি লিখুন।" } },
    remember_me: { label: "সাইন ইন অবস্থায় রাখুন" },
    provider: { label: "এর মাধ্যমে চালিয়ে যান" },
    otp_code: {
      label: "কোড",
      errors: {
        value_too_short_error: "কোডটিতে ছয়টি সংখ্যা থাকে।",
        passcode_invalid: "কোডটি মেলেনি। অ্যাপটি আরেকবার দেখুন।",
      },
    },
    recovery_code: { label: "পুনরুদ্ধার কোড" },
  },
  errors: {
    form_data_invalid_error: "আপনি যা লিখেছেন তা যাচাই করুন।",
    value_missing_error: "এটি পূরণ করুন।",
    value_invalid_error: "এটি সঠিক নয়। যাচাই করুন।",
    value_too_short_error: "অন্তত {min}টি অক্ষর ব্যবহার করুন।",
    value_too_long_error: "সর্বোচ্চ {max}টি অক্ষর ব্যবহার করুন।",
    email_already_exists: "এই ইমেইল ঠিকানায় আগে থেকেই একটি অ্যাকাউন্ট আছে।",
    username_already_exists: "এই ইউজারনেম নেওয়া হয়ে গেছে। অন্য একটি বেছে নিন।",
    unknown_email_error: "এই ইমেইল ঠিকানায় কোনো অ্যাকাউন্ট নেই।",
    unknown_username_error: "এই ইউজারনেমে কোনো অ্যাকাউন্ট নেই।",
    phone_number_already_exists: "এই ফোন নম্বরে আগে থেকেই একটি অ্যাকাউন্ট আছে।",
    phone_number_not_allowed: "এই নম্বরে কোড পাঠানো যায় না। এখানে সেবা আছে এমন দেশের মোবাইল নম্বর ব্যবহার করুন।",
    unknown_phone_number_error: "এই ফোন নম্বরে কোনো অ্যাকাউন্ট নেই।",
    invalid_username_error: "ইউজারনেমে শুধু অক্ষর, সংখ্যা ও আন্ডারস্কোর থাকতে পারে।",
    passcode_invalid: "এটি আমাদের পাঠানো কোড নয়, অথবা এর মেয়াদ শেষ। যাচাই করুন।",
    passcode_max_attempts_reached: "অনেকবার চেষ্টা করা হয়েছে। নতুন কোড নিন।",
    passkey_invalid: "এই পাসকী গ্রহণ করা যায়নি। আবার চেষ্টা করুন, অথবা অন্য উপায়ে সাইন ইন করুন।",
    webauthn_credential_invalid_mfa_only: "এই সিকিউরিটি কী শুধু দ্বিতীয় ধাপের জন্য। আগে অন্য উপায়ে সাইন ইন করুন।",
    operation_not_permitted_error: "এই ধাপটি আর খোলা নেই। হয়তো অন্য উইন্ডোতে শেষ হয়েছে।",
    flow_discontinuity_error: "এখান থেকে আর এগোনো যাবে না। আবার শুরু করুন।",
    flow_expired_error: "আপনি কিছুক্ষণ ছিলেন না, তাই আপনার নিরাপত্তার জন্য পৃষ্ঠাটি বন্ধ করা হয়েছে।",
    rate_limit_exceeded: "একটু বেশি দ্রুত হয়ে গেছে। একটু অপেক্ষা করে আবার চেষ্টা করুন।",
    temporarily_unavailable: "এইমাত্র কাজ করেনি। কিছু হারায়নি: একটু পরে আবার চেষ্টা করুন।",
    technical_error: "আমাদের দিকে সমস্যা হয়েছে। এতে আপনার কোনো দোষ নেই। আবার চেষ্টা করুন।",
    unauthorized: "আপনার অ্যাকাউন্ট শুধু আপনিই দেখতে পান। দেখতে সাইন ইন করুন।",
    forbidden: "এটি এখানে পাওয়া যায় না।",
    not_found: "এটি আর নেই। হয়তো অন্য উইন্ডোতে সরিয়ে দিয়েছেন।",
    platform_authenticator_required: "আপনার অ্যাকাউন্টে এমন দ্বিতীয় ধাপ দরকার, যা এই ডিভাইসে নেই। অন্য ডিভাইস ব্যবহার করুন।",
    user_conflict:
      "এই ইমেইল ঠিকানায় আগে থেকেই একটি অ্যাকাউন্ট আছে। আগে সেটিতে সাইন ইন করুন, তারপর অন্যটি সেখানে যুক্ত করুন।",
    account_blocked: "এই অ্যাকাউন্ট ব্লক করা আছে। এটি যে পরিষেবার, তাদের সঙ্গে যোগাযোগ করুন।",
    signup_disabled: "এখন এখানে নতুন অ্যাকাউন্ট তৈরি করা যাচ্ছে না।",
    third_party_access_denied: "আপনি ফিরে এসেছেন, অথবা অন্য সাইট আপনাকে ঢুকতে দেয়নি। আবার চেষ্টা করতে পারেন।",
    identity_not_linked: "এটি এখানে যুক্ত অ্যাকাউন্ট নয়। যুক্ত অ্যাকাউন্টটি ব্যবহার করুন।",
    identity_already_linked: "এই অ্যাকাউন্ট আগে থেকেই অন্য কারও অ্যাকাউন্টের সঙ্গে যুক্ত।",
    otp_code_invalid: "কোডটি মেলেনি। অ্যাপটি আরেকবার দেখুন।",
    otp_code_already_used: "এই কোড আগেই ব্যবহার করা হয়েছে। পরেরটির জন্য অপেক্ষা করুন।",
    recovery_code_invalid: "এটি আপনার পুনরুদ্ধার কোড নয়, অথবা আগেই ব্যবহার করা হয়েছে।",
    authenticator_request_pending: "আপনার ফোন এখনও নিশ্চিত করেনি। কোডটি স্ক্যান করে ফোনে নিশ্চিত করুন।",
    authenticator_request_failed:
      "আপনার ফোন নিশ্চিত করেনি। আবার চেষ্টা করতে নতুন কোড স্ক্যান করুন, অথবা অন্য উপায় বেছে নিন।",
    authenticator_request_expired: "কোডটির মেয়াদ শেষ হয়েছিল। নতুনটি স্ক্যান করুন।",
    invalid_metadata_error: "এটি সর্বোচ্চ 3000 অক্ষরের একটি JSON অবজেক্ট হতে হবে।",
    webauthn_credential_already_exists: "এই ডিভাইসে এই অ্যাকাউন্টের পাসকী আগে থেকেই আছে।",
    passkey_cancelled: "পাসকী ব্যবহার করা হয়নি। আবার চেষ্টা করুন, অথবা অন্য উপায় বেছে নিন।",
    passkey_failed: "আপনার ব্রাউজার এখানে পাসকী ব্যবহার করতে পারেনি। অন্য উপায় বেছে নিন।",
    connection_lost: "সংযোগ বিচ্ছিন্ন হয়েছে। আবার চেষ্টা করা হচ্ছে…",
    connection_missing: "পরিষেবাটির সঙ্গে সংযোগ করা যাচ্ছে না। আপনার সংযোগ যাচাই করুন।",
    origin_refused: "এই পৃষ্ঠা সাইন ইন দেখাতে পারছে না: আমরা এর ঠিকানা চিনি না। এর নির্মাতারা এটি ঠিক করতে পারবেন।",
    connection_back: "সংযোগ ফিরে এসেছে। শেষ ধাপটি আবার করুন।",
    cookies_blocked:
      "আপনার ব্রাউজার এই পৃষ্ঠার কোনো কুকি রাখছে না, অথচ সাইন ইন করতে একটি কুকি দরকার। কুকির অনুমতি দিয়ে পৃষ্ঠাটি আবার লোড করুন।",
    page_out_of_date: "আপনি অন্য জায়গায় এগিয়ে গেছেন, তাই এই পৃষ্ঠা হালনাগাদ করা হয়েছে।",
    proved_again: "ধন্যবাদ। এখন আপনি যা বদলাতে চেয়েছিলেন তা বদলাতে পারেন।",
    page_renewed: "আপনি কিছুক্ষণ ছিলেন না, তাই আবার শুরু করা হয়েছে।",
    not_json: "এটি বৈধ JSON নয়।",
    third_party_failed: "অন্য সাইটে সাইন ইন করা যায়নি। আবার চেষ্টা করুন, অথবা অন্য উপায় বেছে নিন।",
    multiple_accounts: "অন্য অ্যাকাউন্টের ইমেইল ঠিকানা এখানে অন্য কারও।",
    unverified_email: "অন্য সাইট আপনার ইমেইল ঠিকানা নিশ্চিত করেনি। আগে সেখানে নিশ্চিত করুন।",
    email_maxnum: "আপনার অ্যাকাউন্টে সর্বোচ্চ সংখ্যক ইমেইল ঠিকানা আছে।",
  },
  links: { terms: "পরিষেবার শর্তাবলি", privacy: "গোপনীয়তা নীতি", help: "সাহায্য" },
  consent: {
    terms: "নিবন্ধন করলে আপনি এটি মেনে নিচ্ছেন: {link}।",
    privacy: "আপনার তথ্য কীভাবে ব্যবহৃত হয়: {link}।",
  },
  page: {
    ...messages,
    account: "অ্যাকাউন্ট",
    useAnother: "অন্য অ্যাকাউন্ট ব্যবহার করুন",
    supportNumber: "সহায়তা নম্বর",
    signInInstead: "এই ঠিকানা দিয়ে সাইন ইন করুন",
    waitingForBrowser: "আপনার ব্রাউজারের অপেক্ষায়…",
    nothingHappens: "কিছুই হচ্ছে না? আবার চেষ্টা করুন, অথবা ফিরে গিয়ে অন্য উপায় বেছে নিন।",
    optional: "ঐচ্ছিক",
    or: "অথবা",
    showPassword: "পাসওয়ার্ড দেখান",
    hidePassword: "পাসওয়ার্ড লুকান",
    apply: "প্রয়োগ করুন",
    choose: "বেছে নিন",
    startAgain: "আবার শুরু করুন",
    tryAgain: "আবার চেষ্টা করুন",
    tryAgainIn: "{time} পরে আবার চেষ্টা করুন",
    waitFor: "{time} পরে আবার চেষ্টা করতে পারবেন।",
    signedInAs: "সাইন ইন করা আছে:",
    returning: "{host}-এ ফিরে যাওয়া হচ্ছে…",
    nothingToDo: "এই মুহূর্তে এখানে কিছু করার নেই।",
    languages: "ভাষা",
    working: "একটু অপেক্ষা করুন…",
    secret: "কী",
    qrCode: "অ্যাপ দিয়ে স্ক্যান করার QR কোড",
    waitingForAuthenticator: "আপনার ফোনের জন্য অপেক্ষা করা হচ্ছে। পৃষ্ঠাটি নিজে থেকেই এগোবে।",
    errorTitle: "এই পৃষ্ঠায় কোনো সমস্যা হয়েছে",
    reload: "আবার লোড করুন",
    toSignIn: "সাইন ইন পৃষ্ঠায় যান",
    toAccount: "আপনার অ্যাকাউন্টে যান",
    signIn: "সাইন ইন করুন",
    continueAt: "{host}-এ চালিয়ে যান",
    continueWith: "{provider} দিয়ে চালিয়ে যান",
    copy: "কপি করুন",
    copied: "কপি হয়েছে",
    download: "ডাউনলোড করুন",
    print: "প্রিন্ট করুন",
    recoveryCodes: "আপনার পুনরুদ্ধার কোড",
    recoveryCodesSentence:
      "দ্বিতীয় ধাপ হারিয়ে ফেললে, এর একটি দিয়ে ঢুকতে পারবেন। প্রতিটি একবার কাজ করে। নিরাপদ জায়গায় রাখুন: এগুলো শুধু এখনই দেখানো হচ্ছে।",
    recoveryCodesFile: "পুনরুদ্ধার কোড",
    saved: "আমি এগুলো সংরক্ষণ করেছি",
    confirm: "আপনি কি নিশ্চিত?",
    cancel: "বাতিল করুন",
  },
};

export const flow = withAccount(signIn, account);
