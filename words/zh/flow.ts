import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "无法接受此安全密钥。请重试，或使用其他安全密钥。",
  passkey_cancelled: "未使用安全密钥。您可以重试，或选择其他方式。",
  passkey_failed: "浏览器无法在此使用安全密钥。请选择其他方式。",
  webauthn_credential_already_exists: "此安全密钥已属于您的账号。",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "欢迎",
      sentence: "再走一步即可开始。",
    },
    login_init: {
      title: "登录",
      sentence: "欢迎回来。",
      other: { flow: "registration", question: "还没有账号？", label: "创建账号" },
    },
    login_passkey: {
      title: "使用通行密钥",
      sentence: "浏览器正在请求通行密钥。请使用指纹、面容、屏幕锁定或安全密钥确认。",
      variants: {
        signed_in: {
          title: "使用通行密钥",
          sentence: "更改重要内容之前，请确认是您本人。",
        },
        security_key: {
          title: "使用安全密钥",
          sentence: "浏览器正在请求安全密钥。请插入或靠近设备，然后轻触安全密钥。",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "您想如何登录？",
      variants: {
        signed_in: {
          title: "还是您本人吗？",
          sentence: "更改重要内容之前，请确认是您本人。",
        },
      },
    },
    login_password: {
      title: "输入密码",
      variants: {
        signed_in: {
          title: "输入密码",
          sentence: "更改重要内容之前，请确认是您本人。",
        },
      },
    },
    login_password_recovery: {
      title: "设置新密码",
      sentence: "新密码将在所有地方取代旧密码。",
    },
    passcode_confirmation: {
      title: "查看您的邮箱",
      sentence: "我们已向您发送六位数字验证码，{time}内有效。",
      sentenceWithSubject: "我们已向 {subject} 发送六位数字验证码，{time}内有效。",
      note: "没有收到？请也查看垃圾邮件文件夹。",
      variants: {
        letters: {
          sentence: "我们已向您发送六位验证码，{time}内有效。",
          sentenceWithSubject: "我们已向 {subject} 发送六位验证码，{time}内有效。",
        },
      },
    },
    phone_confirmation: {
      title: "查看您的手机",
      sentence: "我们已通过短信向您发送六位数字验证码，{time}内有效。",
      sentenceWithSubject: "我们已通过短信向 {subject} 发送六位数字验证码，{time}内有效。",
    },
    password_creation: {
      title: "设置密码",
      sentence: "您可以在任何设备上用它登录。",
    },
    onboarding_email: {
      title: "添加邮箱地址",
      sentence: "以便您随时找回账号。",
      variants: {
        no_address: {
          title: "添加邮箱地址",
          sentence: "您用来登录的服务没有提供您的邮箱地址。有了邮箱地址，您就可以随时找回账号。",
        },
      },
    },
    onboarding_username: {
      title: "选择用户名",
      sentence: "用于登录的简短名称。",
    },
    credential_onboarding_chooser: {
      title: "下次您想如何登录？",
      sentence: "另一种方式可以稍后添加。",
    },
    onboarding_create_passkey: {
      title: "无需密码即可登录",
      sentence: "有了通行密钥，只需指纹、面容或屏幕锁定即可登录。无需记忆，我们这里也没有可被盗取的内容。",
    },
    onboarding_verify_passkey_attestation: {
      title: "创建通行密钥",
      sentence: "浏览器正在询问保存位置。请按照提示完成。",
      variants: {
        security_key: {
          title: "设置安全密钥",
          sentence: "请插入或靠近设备，然后按照浏览器的提示操作。",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "创建账号",
      sentence: "用时不到一分钟。",
      other: { flow: "login", question: "以前来过？", label: "我已有账号" },
      variants: {
        closed: {
          title: "目前不开放注册",
          sentence: "目前无法在此创建新账号。如果您已有账号，可以直接登录。",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "请稍候",
      sentence: "您将在另一个网站登录，随后立即返回。",
      actions: { exchange_token: { label: "继续" } },
      errors: {
        form_data_invalid_error: "未能在另一个网站登录。您可以重试，或选择其他方式。",
      },
      variants: {
        rejected: { title: "操作未成功", actions: { back: { label: "其他登录方式" } } },
        not_connected: { title: "操作未成功", actions: { back: { label: "前往您的账号" } } },
      },
    },
    login_otp: {
      title: "输入应用中的验证码",
      sentence: "打开身份验证器应用。它会显示六位数字验证码，每半分钟更新一次。",
    },
    login_security_key: {
      title: "使用安全密钥确认",
      sentence: "这是登录的第二步。请备好安全密钥。",
      actions: {
        webauthn_generate_request_options: { label: "使用安全密钥" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "使用手机确认",
      sentence: "用手机上的应用扫描此二维码，并在手机上确认是您本人。",
      actions: { continue_to_login_otp: { label: "改为输入六位数字验证码" } },
      variants: {
        waits: {
          title: "使用手机确认",
          sentence: "稍后即可获取新的二维码。",
          actions: {
            authenticator_verify: { label: "显示新的二维码", waiting: "{time} 后可获取新的二维码" },
            continue_to_login_otp: { label: "改为输入六位数字验证码" },
          },
          errors: {
            rate_limit_exceeded: "刚才请求的二维码过多。请稍候。",
            authenticator_request_expired: "刚才请求的二维码过多。请稍候。",
            authenticator_request_failed: "手机未确认。请稍候获取新的二维码，或选择其他方式。",
          },
        },
      },
    },
    login_sms: {
      title: "输入短信验证码",
      sentence: "这是登录的第二步。我们已将验证码发送到您账号的手机号码。",
    },
    mfa_method_chooser: {
      title: "添加第二步验证",
      sentence: "这样，仅凭被盗的密码无法登录。您想使用哪种方式？",
    },
    mfa_otp_secret_creation: {
      title: "设置身份验证器应用",
      sentence: "用应用扫描图片，或将密钥复制到应用中。然后输入应用显示的验证码。",
    },
    mfa_security_key_creation: {
      title: "设置安全密钥",
      sentence: "一种可插入或靠近设备使用的小型设备。请备好。",
      actions: { webauthn_generate_creation_options: { label: "设置安全密钥" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "设置短信验证码",
      sentence: "我们会发送验证码以确认号码。之后，每次登录都需要验证码。",
      actions: { phone_set: { label: "继续" } },
    },
    device_trust: {
      title: "这是您自己的设备吗？",
      sentence: "如果只有您使用此设备，我们可以在一段时间内省去第二步验证。",
    },
    webauthn_credential_verification: {
      title: "创建通行密钥",
      sentence: "浏览器正在询问保存位置。请按照提示完成。",
      variants: {
        security_key: {
          title: "设置安全密钥",
          sentence: "请插入或靠近设备，然后按照浏览器的提示操作。",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "您已登录",
      sentence: "现在可以关闭此页面。",
    },
    error: {
      title: "操作未成功",
      variants: { signed_out: { title: "请登录" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "继续" },
    continue_with_login_identifier: { label: "继续" },
    register_login_identifier: { label: "继续" },
    webauthn_generate_request_options: {
      label: "使用通行密钥登录",
      hint: "指纹、面容、屏幕锁定或安全密钥",
    },
    webauthn_generate_creation_options: { label: "创建通行密钥" },
    remember_me: { label: "保持登录状态" },
    continue_to_password_login: { label: "输入密码", hint: "您为此账号设置的密码" },
    continue_to_passcode_confirmation: { label: "通过邮件获取验证码", hint: "几分钟内有效" },
    continue_to_phone_confirmation: { label: "通过短信获取验证码", hint: "几分钟内有效" },
    continue_to_passcode_confirmation_recovery: { label: "忘记密码？" },
    continue_to_passkey_registration: {
      label: "使用通行密钥",
      hint: "指纹、面容或屏幕锁定；无需记忆",
    },
    continue_to_password_registration: { label: "使用密码", hint: "适用于任何设备" },
    password_login: { label: "登录" },
    password_recovery: { label: "保存新密码" },
    register_password: { label: "保存密码" },
    verify_passcode: { label: "确认" },
    resend_passcode: {
      label: "发送新验证码",
      waiting: "{time} 后可获取新验证码",
      done: "新验证码已发送，旧验证码已失效。",
    },
    email_address_set: { label: "继续" },
    username_set: { label: "继续" },
    skip: { label: "以后再说" },
    back: { label: "返回" },
    thirdparty_oauth: { label: "使用以下方式继续" },
    exchange_token: { label: "继续" },
    otp_code_validate: { label: "确认" },
    otp_code_verify: { label: "确认" },
    recovery_code_validate: {
      label: "使用恢复代码",
      hint: "设置第二步验证时保存的代码之一。每个代码只能使用一次。",
      submit: "使用此代码",
    },
    continue_to_login_otp: { label: "改用应用中的验证码" },
    continue_to_login_security_key: { label: "改用安全密钥" },
    continue_to_login_method_chooser: { label: "其他登录方式" },
    continue_to_login_authenticator: { label: "改用手机确认" },
    authenticator_verify: { label: "我已确认" },
    continue_to_otp_secret_creation: {
      label: "身份验证器应用",
      hint: "在手机上每半分钟显示一个新验证码",
    },
    continue_to_security_key_creation: {
      label: "安全密钥",
      hint: "一种可插入或靠近设备使用的小型设备",
    },
    continue_to_phone_creation: { label: "短信验证码", hint: "发送到您的手机号码；使用应用更安全" },
    trust_device: { label: "是，信任此设备" },
    phone_set: { label: "设置", submit: "继续", done: "手机号码已设置。" },
    username_create: { label: "选择用户名", submit: "保存", done: "您的用户名已设置。" },
  },
  inputs: {
    identifier: { label: "邮箱或用户名" },
    email: {
      label: "邮箱",
      errors: { value_invalid_error: "这不像是邮箱地址。是否有输入错误？" },
    },
    username: { label: "用户名" },
    phone: {
      label: "手机号码",
      hint: "包含国家代码，例如 +86 131 2345 6789",
      errors: { value_invalid_error: "这不像是手机号码。是否以国家代码开头？" },
    },
    password: {
      label: "密码",
      errors: { value_invalid_error: "密码不正确。请重试。" },
    },
    new_password: {
      label: "新密码",
      hint: "至少 {min} 个字符。几个连续的词语就很合适。",
      errors: { value_invalid_error: "此密码过于常见，不够安全。请另选一个。" },
    },
    code: { label: "验证码", errors: { value_too_short_error: "请输入完整的验证码。" } },
    remember_me: { label: "保持登录状态" },
    provider: { label: "使用以下方式继续" },
    otp_code: {
      label: "验证码",
      errors: {
        value_too_short_error: "验证码为六位数字。",
        passcode_invalid: "验证码不正确。请再查看一次应用。",
      },
    },
    recovery_code: { label: "恢复代码" },
  },
  errors: {
    form_data_invalid_error: "请检查您输入的内容。",
    value_missing_error: "请填写此项。",
    value_invalid_error: "此内容无效。请检查。",
    value_too_short_error: "请至少使用 {min} 个字符。",
    value_too_long_error: "请最多使用 {max} 个字符。",
    email_already_exists: "已有账号使用此邮箱地址。",
    username_already_exists: "此用户名已被占用。请另选一个。",
    unknown_email_error: "没有使用此邮箱地址的账号。",
    unknown_username_error: "没有使用此用户名的账号。",
    phone_number_already_exists: "已有使用此手机号码的账号。",
    phone_number_not_allowed: "无法向此号码发送验证码。请使用此处支持的国家的手机号码。",
    unknown_phone_number_error: "没有使用此手机号码的账号。",
    invalid_username_error: "用户名只能包含字母、数字和下划线。",
    passcode_invalid: "这不是我们发送的验证码，或验证码已过期。请检查。",
    passcode_max_attempts_reached: "尝试次数过多。请获取新验证码。",
    passkey_invalid: "无法接受此通行密钥。请重试，或使用其他方式登录。",
    webauthn_credential_invalid_mfa_only: "此安全密钥仅用于第二步验证。请先使用其他方式登录。",
    operation_not_permitted_error: "此步骤已关闭。可能已在另一个窗口中完成。",
    flow_discontinuity_error: "无法从这里继续。请重新开始。",
    flow_expired_error: "您离开了一段时间。为了您的安全，我们已关闭此页面。",
    rate_limit_exceeded: "操作过快。请稍候再试。",
    temporarily_unavailable: "刚才未能成功。内容没有丢失，请稍后重试。",
    technical_error: "我们这边出现了问题，与您无关。请重试。",
    unauthorized: "只有您本人可以查看您的账号。请登录后查看。",
    forbidden: "此处不提供该功能。",
    not_found: "该内容已不存在。可能已在另一个窗口中移除。",
    platform_authenticator_required: "您的账号要求此设备不支持的第二步验证。请使用其他设备。",
    user_conflict: "已有账号使用此邮箱地址。请先登录该账号，然后在其中关联另一个账号。",
    account_blocked: "此账号已被封禁。请联系该账号所属的服务。",
    signup_disabled: "目前无法在此创建新账号。",
    third_party_access_denied: "您已返回，或另一个网站拒绝了登录。您可以重试。",
    identity_not_linked: "这不是此处关联的账号。请使用已关联的账号。",
    identity_already_linked: "此账号已关联到其他人的账号。",
    otp_code_invalid: "验证码不正确。请再查看一次应用。",
    otp_code_already_used: "此验证码已使用过。请等待下一个。",
    recovery_code_invalid: "这不是您的恢复代码，或已使用过。",
    authenticator_request_pending: "手机尚未确认。请扫描二维码并在手机上确认。",
    authenticator_request_failed: "手机未确认。请扫描新的二维码重试，或选择其他方式。",
    authenticator_request_expired: "二维码已过期。请扫描新的二维码。",
    invalid_metadata_error: "必须是不超过 3000 个字符的 JSON 对象。",
    webauthn_credential_already_exists: "此设备上已有该账号的通行密钥。",
    passkey_cancelled: "未使用通行密钥。您可以重试，或选择其他方式。",
    passkey_failed: "浏览器无法在此使用通行密钥。请选择其他方式。",
    connection_lost: "连接已断开。正在重试…",
    connection_missing: "无法连接到服务。请检查您的网络连接。",
    origin_refused: "此页面无法显示登录：服务不认识它的地址。其开发者可以解决这个问题。",
    connection_back: "连接已恢复。请重复上一步操作。",
    cookies_blocked: "您的浏览器没有保存此页面的 Cookie，而登录需要它。请允许 Cookie，然后重新加载此页面。",
    page_out_of_date: "您已在别处继续操作，我们更新了此页面。",
    proved_again: "谢谢。现在您可以进行所需的更改。",
    page_renewed: "您离开了一段时间，我们已重新开始。",
    not_json: "这不是有效的 JSON。",
    third_party_failed: "未能在另一个网站登录。您可以重试，或选择其他方式。",
    multiple_accounts: "另一个账号的邮箱地址在此属于其他人。",
    unverified_email: "另一个网站尚未确认您的邮箱地址。请先在那里确认。",
    email_maxnum: "您的账号已达到邮箱地址数量上限。",
  },
  links: { terms: "服务条款", privacy: "隐私政策", help: "帮助" },
  consent: { terms: "注册即表示你接受{link}。", privacy: "我们如何使用你的数据：{link}。" },
  page: {
    ...messages,
    account: "账号",
    useAnother: "使用其他账号",
    signInInstead: "使用此邮箱地址登录",
    waitingForBrowser: "正在等待您的浏览器…",
    nothingHappens: "没有反应？请重试，或返回选择其他方式。",
    optional: "可选",
    or: "或",
    showPassword: "显示密码",
    hidePassword: "隐藏密码",
    apply: "应用",
    choose: "请选择",
    startAgain: "重新开始",
    tryAgain: "重试",
    tryAgainIn: "{time} 后重试",
    waitFor: "您可以在 {time} 后重试。",
    signedInAs: "当前账号：",
    returning: "正在返回 {host}…",
    nothingToDo: "目前这里无需任何操作。",
    languages: "语言",
    working: "请稍候…",
    secret: "密钥",
    qrCode: "供应用扫描的二维码",
    waitingForAuthenticator: "正在等待您的手机。此页面会自动继续。",
    errorTitle: "此页面出现了问题",
    reload: "重新加载",
    toSignIn: "前往登录",
    toAccount: "前往您的账号",
    signIn: "登录",
    continueAt: "前往 {host} 继续",
    continueWith: "使用 {provider} 继续",
    copy: "复制",
    copied: "已复制",
    download: "下载",
    print: "打印",
    recoveryCodes: "您的恢复代码",
    recoveryCodesSentence:
      "如果您无法使用第二步验证，可以用其中一个代码登录。每个代码只能使用一次。请妥善保管：我们只在现在显示一次。",
    recoveryCodesFile: "恢复代码",
    saved: "我已保存",
    confirm: "确定吗？",
    cancel: "取消",
  },
};

export const flow = withAccount(signIn, account);
