import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} ist Ihr Anmeldecode für {service}",
      heading: "Ihr Anmeldecode",
      request: "Geben Sie diesen Code ein, um sich bei {service} anzumelden:",
      ignore:
        "Wenn Sie sich nicht anmelden wollten, können Sie diese Nachricht ignorieren. Ohne den Code kann sich niemand anmelden.",
    },
    recovery: {
      subject: "{code} ist Ihr Code für ein neues Passwort bei {service}",
      heading: "Neues Passwort festlegen",
      request: "Geben Sie diesen Code ein, um ein neues Passwort für {service} festzulegen:",
      ignore:
        "Wenn Sie kein neues Passwort angefordert haben, können Sie diese Nachricht ignorieren. Ihr Passwort bleibt, wie es ist.",
    },
    email_verification: {
      subject: "{code} ist Ihr Bestätigungscode für {service}",
      heading: "E-Mail-Adresse bestätigen",
      request: "Geben Sie diesen Code ein, um zu bestätigen, dass diese E-Mail-Adresse Ihnen gehört:",
      ignore:
        "Wenn Sie diese Adresse nicht bei {service} angegeben haben, können Sie diese Nachricht ignorieren.",
    },
    email_login_attempted: {
      subject: "Anmeldeversuch bei {service}",
      preview: "Zu dieser E-Mail-Adresse gibt es kein Konto.",
      heading: "Kein Konto mit dieser Adresse",
      event:
        "Jemand wollte sich mit dieser E-Mail-Adresse bei {service} anmelden. Es gibt aber kein Konto mit dieser Adresse.",
      advice: "Wenn Sie das waren, haben Sie sich vielleicht mit einer anderen Adresse registriert.",
      ignore: "Wenn Sie das nicht waren, können Sie diese Nachricht ignorieren. Es ist nichts geschehen.",
    },
    email_registration_attempted: {
      subject: "Sie haben bereits ein Konto bei {service}",
      preview: "Jemand wollte sich mit dieser E-Mail-Adresse registrieren.",
      heading: "Sie haben bereits ein Konto",
      event:
        "Jemand wollte sich mit dieser E-Mail-Adresse bei {service} registrieren. Sie haben aber bereits ein Konto mit dieser Adresse.",
      advice: "Wenn Sie das waren, melden Sie sich stattdessen mit dieser Adresse an.",
      ignore: "Wenn Sie das nicht waren, können Sie diese Nachricht ignorieren. Ihr Konto ist unverändert.",
    },
    recovery_offered: {
      subject: "Wieder bei {service} anmelden",
      preview: "Sie können einen Code anfordern und ein neues Passwort festlegen.",
      heading: "Wieder anmelden",
      event: "Die Betreiber von {service} wurden gebeten, Ihnen bei der Anmeldung an Ihrem Konto zu helfen.",
      advice:
        "Gehen Sie zu {host} und geben Sie diese E-Mail-Adresse ein. Dort können Sie einen Code anfordern und, falls Sie eines verwenden, ein neues Passwort festlegen.",
      ignore:
        "Wenn Sie nicht um Hilfe gebeten haben, können Sie diese Nachricht ignorieren. Ihr Konto ist unverändert.",
    },
    email_create: {
      subject: "Neue E-Mail-Adresse in Ihrem Konto bei {service}",
      heading: "Eine neue E-Mail-Adresse",
      event: "Die E-Mail-Adresse {address} wurde zu Ihrem Konto bei {service} hinzugefügt.",
    },
    email_delete: {
      subject: "Eine E-Mail-Adresse wurde aus Ihrem Konto bei {service} entfernt",
      heading: "Eine E-Mail-Adresse wurde entfernt",
      event: "Die E-Mail-Adresse {address} wurde aus Ihrem Konto bei {service} entfernt.",
    },
    primary_email_update: {
      subject: "Die Haupt-E-Mail-Adresse Ihres Kontos bei {service} wurde geändert",
      heading: "Eine neue Haupt-E-Mail-Adresse",
      event:
        "Die Haupt-E-Mail-Adresse Ihres Kontos bei {service} ist jetzt {address}. Nachrichten zu Ihrem Konto gehen dorthin.",
    },
    password_update: {
      subject: "Das Passwort Ihres Kontos bei {service} wurde geändert",
      heading: "Ein neues Passwort",
      event: "Für Ihr Konto bei {service} wurde ein neues Passwort festgelegt.",
    },
    password_delete: {
      subject: "Das Passwort Ihres Kontos bei {service} wurde entfernt",
      heading: "Ihr Passwort wurde entfernt",
      event: "Das Passwort Ihres Kontos bei {service} wurde entfernt.",
    },
    passkey_create: {
      subject: "Neuer Passkey in Ihrem Konto bei {service}",
      heading: "Ein neuer Passkey",
      event:
        "Ein Passkey wurde zu Ihrem Konto bei {service} hinzugefügt. Wer ihn hat, kann sich damit anmelden.",
    },
    passkey_delete: {
      subject: "Ein Passkey wurde aus Ihrem Konto bei {service} entfernt",
      heading: "Ein Passkey wurde entfernt",
      event:
        "Ein Passkey wurde aus Ihrem Konto bei {service} entfernt. Mit ihm kann sich niemand mehr anmelden.",
    },
    mfa_create: {
      subject: "Der zweite Schritt der Anmeldung bei {service} wurde geändert",
      heading: "Ihr zweiter Schritt wurde geändert",
      event:
        "{factor, select, totp {Eine Authenticator-App wurde} security_key {Ein Sicherheitsschlüssel wurde} authenticator {Ein Telefon wurde} recovery_codes {Neue Wiederherstellungscodes wurden} other {Ein zweiter Faktor wurde}} als zweiter Schritt der Anmeldung bei Ihrem Konto bei {service} eingerichtet.",
    },
    identity_create: {
      subject: "Ein weiteres Konto wurde mit {service} verbunden",
      heading: "Ein weiteres Konto wurde verbunden",
      event:
        "Ihr Konto bei {service} wurde mit einem Konto bei einem anderen Anbieter verbunden, mit dem Sie sich ab jetzt anmelden können.",
    },
    recovery_code_use: {
      subject: "Ein Wiederherstellungscode wurde bei {service} benutzt",
      heading: "Ein Wiederherstellungscode wurde benutzt",
      event:
        "Jemand hat sich mit einem Ihrer Wiederherstellungscodes bei Ihrem Konto bei {service} angemeldet, anstelle des zweiten Schritts. Dieser Code ist verbraucht.",
    },
    mfa_delete: {
      subject: "Ein zweiter Schritt der Anmeldung bei {service} wurde entfernt",
      heading: "Ein zweiter Schritt wurde entfernt",
      event:
        "{factor, select, totp {Die Authenticator-App gilt} security_key {Ein Sicherheitsschlüssel gilt} authenticator {Ein Telefon gilt} recovery_codes {Die Wiederherstellungscodes gelten} other {Ein zweiter Faktor gilt}} nicht mehr als zweiter Schritt der Anmeldung bei Ihrem Konto bei {service}.",
    },
    phone_create: {
      subject: "Neue Telefonnummer in Ihrem Konto bei {service}",
      heading: "Eine neue Telefonnummer",
      event:
        "Für Ihr Konto bei {service} wurde eine Telefonnummer festgelegt. Codes können an sie geschickt werden.",
    },
    phone_delete: {
      subject: "Die Telefonnummer wurde aus Ihrem Konto bei {service} entfernt",
      heading: "Ihre Telefonnummer wurde entfernt",
      event:
        "Die Telefonnummer wurde aus Ihrem Konto bei {service} entfernt. An sie werden keine Codes mehr geschickt.",
    },
    account_delete: {
      subject: "Ihr Konto bei {service} wurde gelöscht",
      heading: "Ihr Konto wurde gelöscht",
      event: "Ihr Konto bei {service} wurde mit allem, was dazugehört, gelöscht.",
      unexpected: "Wenn Sie das nicht waren, wenden Sie sich an die Betreiber von {service}.",
    },
    impersonation: {
      subject: "Die Betreiber von {service} haben sich bei Ihrem Konto angemeldet",
      heading: "Eine Anmeldung an Ihrer Stelle",
      event:
        "Die Betreiber von {service} haben sich am {time} bei Ihrem Konto angemeldet, um zu sehen, was Sie sehen. Wie Sie sich anmelden, können sie nicht ändern. Das endet spätestens nach {minutes, plural, one {# Minute} other {# Minuten}}. Der angegebene Grund: {reason}",
      unexpected:
        "Wenn Sie nicht um Hilfe gebeten haben, sagen Sie es den Betreibern von {service}. Sie können die Sitzung unter {host} bei Ihren Sitzungen beenden.",
    },
    new_browser: {
      subject: "Neue Anmeldung bei Ihrem Konto bei {service}",
      heading: "Anmeldung in einem neuen Browser",
      event:
        "Bei Ihrem Konto bei {service} gab es am {time} eine Anmeldung{browser, select, Unknown {} other { mit {browser}}}{place, select, none {} other { in der Nähe von {place}}}. Dieser Browser wurde dafür bisher nicht verwendet.",
      unexpected:
        "Wenn Sie das nicht waren, ist vielleicht jemand anderes in Ihrem Konto. Melden Sie sich unter {host} an, beenden Sie die anderen Sitzungen und legen Sie ein neues Passwort fest. Wenn Sie sich nicht mehr anmelden können, wenden Sie sich an die Betreiber von {service}.",
    },
  },
  unexpected:
    "Wenn Sie das nicht waren, ist vielleicht jemand anderes in Ihrem Konto. Melden Sie sich unter {host} an, machen Sie die Änderung rückgängig, legen Sie ein neues Passwort fest und beenden Sie die anderen Sitzungen. Wenn Sie sich nicht mehr anmelden können, wenden Sie sich an die Betreiber von {service}.",
  expected: "Wenn Sie das waren, müssen Sie nichts tun.",
  validity: "Er gilt {minutes, plural, one {# Minute} other {# Minuten}} lang und nur einmal.",
  link: "Oder öffnen Sie diesen Link und drücken Sie dort auf die Schaltfläche:",
  linkLabel: "Weiter, ohne den Code einzugeben",
  secrecy: "Behalten Sie ihn für sich: Niemand von {service} wird Sie jemals danach fragen.",
  automatic: "{service} ({host}) hat diese Nachricht automatisch gesendet. Antworten werden nicht gelesen.",
};
