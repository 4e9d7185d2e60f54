import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "Stimmen Sie dem zu?",
  sentence:
    "{application} bittet um Ihre Zustimmung. Ihr Passkey unterschreibt genau das, was Sie hier lesen.",
  agreement: "Dem stimmen Sie zu",
  members: { amount: "Betrag", to: "An", reference: "Referenz", items: "Posten" },
  rest: "Gehört auch dazu:",
  confirm: "Mit Passkey bestätigen",
  decline: "Ablehnen",
  returning: "Danach geht es zurück zu {host}.",
  exact: "Genauen Text zeigen",
  exactSentence: "Das wird unterschrieben, Zeichen für Zeichen: der Vorgang und die Daten.",
  hides:
    "Hier stehen Zeichen, die man nicht sehen kann. Wir haben sie gekennzeichnet. Lehnen Sie im Zweifel ab.",
  unseen: "Zeichen {code}, das man nicht sehen kann",
  yes: "ja",
  no: "nein",
  nothing: "nichts",
  empty: "leer",
  noScript: "Passkeys brauchen JavaScript. Bitte schalten Sie es für diese Seite ein und laden Sie sie neu.",
  redirecting: "Es geht zurück zu {host}.",
  continueAt: "Weiter zu {host}",
  ends: {
    confirmed: { title: "Danke, es ist bestätigt", sentence: "Sie können diese Seite jetzt schließen." },
    declined: {
      title: "Sie haben abgelehnt",
      sentence: "Es wurde nichts unterschrieben. Sie können diese Seite jetzt schließen.",
    },
    expired: {
      title: "Das hat etwas lange gedauert",
      sentence:
        "Zu Ihrer Sicherheit ist die Seite geschlossen, und es wurde nichts unterschrieben. Bitte beginnen Sie dort neu, wo Sie herkommen.",
    },
    answered: {
      title: "Das wurde schon beantwortet",
      sentence: "Hier ist nichts mehr zu tun. Sie können diese Seite jetzt schließen.",
    },
    unknown: {
      title: "Diese Seite ist nicht mehr offen",
      sentence: "Sie wurde beantwortet oder ist abgelaufen. Bitte beginnen Sie dort neu, wo Sie herkommen.",
    },
  },
  errors: {
    cancelled:
      "Der Passkey wurde nicht benutzt, also wurde nichts unterschrieben. Sie können es noch einmal versuchen oder ablehnen.",
    failed: "Ihr Browser konnte hier keinen Passkey verwenden. Es wurde nichts unterschrieben.",
    unsupported:
      "Dieser Browser hat keine Passkeys. Bitte öffnen Sie diese Seite auf einem anderen Gerät, oder lehnen Sie ab.",
    refused:
      "Wir konnten diesen Passkey nicht annehmen. Es wurde nichts unterschrieben. Bitte versuchen Sie es noch einmal.",
    slow: "Das ging etwas schnell. Bitte warten Sie kurz und versuchen Sie es noch einmal.",
    offline:
      "Wir erreichen den Dienst nicht. Bitte prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    technical:
      "Bei uns ist etwas schiefgegangen. Es liegt nicht an Ihnen. Bitte versuchen Sie es noch einmal.",
  },
};
