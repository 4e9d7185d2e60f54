import type { MailWords } from "./words.ts";

export const de: MailWords = {
  mails: {
    login: {
      subject: "{code} ist Ihr Anmeldecode für {service}",
      heading: "Ihr Anmeldecode",
      request: "Geben Sie diesen Code ein, um sich bei {service} anzumelden:",
      ignore:
        "Wenn Sie sich nicht anmelden wollten, können Sie diese Nachricht ignorieren. Ohne den Code kann sich niemand anmelden.",
    },
    recovery: {
      subject: "{code} ist Ihr Wiederherstellungscode für {service}",
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
  },
  validity: "Er gilt {minutes, plural, one {# Minute} other {# Minuten}} lang und nur einmal.",
  secrecy: "Behalten Sie ihn für sich: Niemand von {service} wird Sie jemals danach fragen.",
  automatic: "{service} ({host}) hat diese Nachricht automatisch gesendet. Antworten werden nicht gelesen.",
};
