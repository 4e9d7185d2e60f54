import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} 是您的 {service} 登录验证码",
      heading: "您的登录验证码",
      request: "请输入此验证码以登录 {service}：",
      ignore: "如果您没有尝试登录，可以忽略此邮件。没有验证码，任何人都无法登录。",
    },
    recovery: {
      subject: "{code} 是您重设 {service} 密码的验证码",
      heading: "设置新密码",
      request: "请输入此验证码以设置 {service} 的新密码：",
      ignore: "如果您没有申请新密码，可以忽略此邮件。您的密码保持不变。",
    },
    email_verification: {
      subject: "{code} 是您的 {service} 确认验证码",
      heading: "确认您的邮箱地址",
      request: "请输入此验证码，以确认此邮箱地址属于您：",
      ignore: "如果您没有向 {service} 提供此地址，可以忽略此邮件。",
    },
    email_login_attempted: {
      subject: "有人尝试登录 {service}",
      preview: "没有使用此邮箱地址的账号。",
      heading: "没有使用此地址的账号",
      event: "有人尝试用此邮箱地址登录 {service}，但没有使用此地址的账号。",
      advice: "如果是您本人，您可能是用其他地址注册的。",
      ignore: "如果不是您本人，可以忽略此邮件。什么都没有改变。",
    },
    email_registration_attempted: {
      subject: "您已有 {service} 账号",
      preview: "有人尝试用此邮箱地址注册。",
      heading: "您已有账号",
      event: "有人尝试用此邮箱地址注册 {service}，但您已有账号。",
      advice: "如果是您本人，请直接用此地址登录。",
      ignore: "如果不是您本人，可以忽略此邮件。您的账号没有变化。",
    },
    recovery_offered: {
      subject: "重新登录 {service}",
      preview: "您可以获取验证码并设置新密码。",
      heading: "重新登录",
      event: "{service} 的运营方收到请求，帮助您登录您的账号。",
      advice: "请访问 {host} 并输入此邮箱地址。您可以在那里获取验证码；如果您使用密码，也可以设置新密码。",
      ignore: "如果您没有请求帮助，可以忽略此邮件。您的账号没有变化。",
    },
    email_create: {
      subject: "您的 {service} 账号添加了邮箱地址",
      heading: "新的邮箱地址",
      event: "邮箱地址 {address} 已添加到您的 {service} 账号。",
    },
    email_delete: {
      subject: "您的 {service} 账号移除了邮箱地址",
      heading: "邮箱地址已移除",
      event: "邮箱地址 {address} 已从您的 {service} 账号中移除。",
    },
    primary_email_update: {
      subject: "您的 {service} 账号的主邮箱已更改",
      heading: "新的主邮箱",
      event: "您的 {service} 账号的主邮箱现在是 {address}。与账号有关的邮件将发送到该地址。",
    },
    password_update: {
      subject: "您的 {service} 账号的密码已更改",
      heading: "新密码",
      event: "您的 {service} 账号已设置新密码。",
    },
    password_delete: {
      subject: "您的 {service} 账号的密码已移除",
      heading: "您的密码已移除",
      event: "您的 {service} 账号的密码已被移除。",
    },
    passkey_create: {
      subject: "您的 {service} 账号添加了通行密钥",
      heading: "新的通行密钥",
      event: "您的 {service} 账号已添加通行密钥。持有它的人可以用它登录。",
    },
    passkey_delete: {
      subject: "您的 {service} 账号移除了通行密钥",
      heading: "通行密钥已移除",
      event: "您的 {service} 账号已移除通行密钥。它无法再用于登录。",
    },
    mfa_create: {
      subject: "{service} 登录的第二步验证已更改",
      heading: "您的第二步验证已更改",
      event:
        "您的 {service} 账号登录的第二步验证已设置{factor, select, totp {身份验证器应用} security_key {安全密钥} authenticator {手机} recovery_codes {新的恢复代码} other {第二重验证方式}}。",
    },
    identity_create: {
      subject: "{service} 关联了其他账号",
      heading: "已关联其他账号",
      event: "您的 {service} 账号已关联到其他服务商的账号，今后可以用该账号登录。",
    },
    recovery_code_use: {
      subject: "{service} 的恢复代码已被使用",
      heading: "恢复代码已被使用",
      event: "有人用您的一个恢复代码代替第二步验证，登录了您的 {service} 账号。该代码已失效。",
    },
    mfa_delete: {
      subject: "{service} 登录的第二步验证已移除",
      heading: "第二步验证已移除",
      event:
        "{factor, select, totp {身份验证器应用} security_key {安全密钥} authenticator {手机} recovery_codes {恢复代码} other {第二重验证方式}}无法再用于您的 {service} 账号登录的第二步验证。",
    },
    phone_create: {
      subject: "您的 {service} 账号添加了手机号码",
      heading: "新的手机号码",
      event: "您的 {service} 账号设置了手机号码。验证码可以发送到该号码。",
    },
    phone_delete: {
      subject: "您的 {service} 账号移除了手机号码",
      heading: "手机号码已移除",
      event: "手机号码已从您的 {service} 账号中移除。验证码不再发送到该号码。",
    },
    account_delete: {
      subject: "您的 {service} 账号已删除",
      heading: "您的账号已删除",
      event: "您的 {service} 账号及其中的所有内容已被删除。",
      unexpected: "如果不是您本人，请联系 {service} 的运营方。",
    },
    impersonation: {
      subject: "{service} 的管理人员登录了您的账号",
      heading: "有人代替您登录",
      event:
        "{service} 的管理人员于 {time} 登录了您的账号，以查看您所看到的内容。他们无法更改您的登录方式。最迟在 {minutes, plural, other {# 分钟}}后结束。所给的原因：{reason}",
      unexpected: "如果您没有请求帮助，请告知 {service} 的管理人员。您可以在 {host} 的会话列表中结束该会话。",
    },
    new_browser: {
      subject: "您的 {service} 账号有新的登录",
      heading: "在新浏览器中登录",
      event:
        "您的 {service} 账号于 {time}{browser, select, Unknown {} other {通过 {browser} }}{place, select, none {} other {在 {place} 附近}}登录。此前该浏览器未登录过此账号。",
      unexpected:
        "如果不是您本人，可能有其他人能够访问您的账号。请在 {host} 登录，结束其他会话，并设置新密码。如果您无法再登录，请联系 {service} 的运营方。",
    },
  },
  unexpected:
    "如果不是您本人，可能有其他人能够访问您的账号。请在 {host} 登录，撤销更改，设置新密码，并结束其他会话。如果您无法再登录，请联系 {service} 的运营方。",
  expected: "如果是您本人，则无需任何操作。",
  validity: "验证码在 {minutes, plural, other {# 分钟}}内有效，只能使用一次。",
  link: "或打开此链接，并按下页面上的按钮：",
  linkLabel: "继续，无需输入验证码",
  secrecy: "请勿告诉任何人：{service} 绝不会向您索取验证码。",
  automatic: "此邮件由 {service}（{host}）自动发送，回复不会被阅读。",
};
