import type { Words } from "./words.ts";

export const de: Words = {
  language: "de",
  languageName: "Deutsch",
  states: {
    preflight: {
      title: "Willkommen",
      sentence: "Noch ein Schritt, dann geht es weiter.",
    },
    login_init: {
      title: "Anmelden",
      sentence: "Schön, dass Sie wieder da sind.",
      other: { flow: "registration", question: "Neu hier?", label: "Konto erstellen" },
    },
    login_passkey: {
      title: "Passkey verwenden",
      sentence:
        "Ihr Browser fragt danach. Bestätigen Sie mit Fingerabdruck, Gesicht, Bildschirmsperre oder Sicherheitsschlüssel.",
    },
    login_method_chooser: {
      title: "Wie möchten Sie sich anmelden?",
      sentenceAbout: "Anmeldung als {subject}",
    },
    login_password: {
      title: "Passwort eingeben",
      sentenceAbout: "Anmeldung als {subject}",
    },
    login_password_recovery: {
      title: "Neues Passwort wählen",
      sentence: "Es ersetzt überall das alte.",
    },
    passcode_confirmation: {
      title: "Sehen Sie in Ihr Postfach",
      sentence: "Wir haben Ihnen einen sechsstelligen Code geschickt. Er gilt einige Minuten.",
      sentenceAbout: "Wir haben einen sechsstelligen Code an {subject} geschickt. Er gilt einige Minuten.",
    },
    password_creation: {
      title: "Passwort festlegen",
      sentence: "Damit melden Sie sich auf jedem Gerät an.",
    },
    onboarding_email: {
      title: "E-Mail-Adresse hinzufügen",
      sentence: "Damit Sie immer wieder in Ihr Konto kommen.",
    },
    onboarding_username: {
      title: "Benutzernamen wählen",
      sentence: "Ein kurzer Name für die Anmeldung.",
    },
    credential_onboarding_chooser: {
      title: "Wie melden Sie sich künftig an?",
      sentence: "Das andere können Sie später ergänzen.",
    },
    onboarding_create_passkey: {
      title: "Ohne Passwort anmelden",
      sentence:
        "Mit einem Passkey genügen Fingerabdruck, Gesicht oder Bildschirmsperre. Sie müssen sich nichts merken, und bei uns gibt es nichts zu stehlen.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Passkey erstellen",
      sentence: "Ihr Browser fragt, wo er gespeichert werden soll. Folgen Sie seinen Schritten.",
    },
    registration_init: {
      title: "Konto erstellen",
      sentence: "Das dauert keine Minute.",
      other: { flow: "login", question: "Schon einmal hier gewesen?", label: "Ich habe ein Konto" },
    },
    success: {
      end: true,
      title: "Sie sind angemeldet",
      sentence: "Sie können diese Seite jetzt schließen.",
    },
    error: {
      title: "Das hat nicht geklappt",
    },
  },
  actions: {
    register_client_capabilities: { label: "Weiter" },
    continue_with_login_identifier: { label: "Weiter" },
    register_login_identifier: { label: "Weiter" },
    webauthn_generate_request_options: {
      label: "Mit Passkey anmelden",
      hint: "Fingerabdruck, Gesicht, Bildschirmsperre oder Sicherheitsschlüssel",
    },
    webauthn_generate_creation_options: { label: "Passkey erstellen" },
    remember_me: { label: "Angemeldet bleiben" },
    continue_to_password_login: { label: "Passwort eingeben", hint: "Das Passwort dieses Kontos" },
    continue_to_passcode_confirmation: {
      label: "Code per E-Mail",
      hint: "Sechs Ziffern, einige Minuten gültig",
    },
    continue_to_passcode_confirmation_recovery: { label: "Passwort vergessen?" },
    continue_to_passkey_registration: {
      label: "Mit einem Passkey",
      hint: "Fingerabdruck, Gesicht oder Bildschirmsperre; nichts zu merken",
    },
    continue_to_password_registration: { label: "Mit einem Passwort", hint: "Geht auf jedem Gerät" },
    password_login: { label: "Anmelden", waiting: "Anmelden ({time})" },
    password_recovery: { label: "Neues Passwort speichern" },
    register_password: { label: "Passwort speichern" },
    verify_passcode: { label: "Bestätigen" },
    resend_passcode: {
      label: "Neuen Code senden",
      waiting: "Neuer Code in {time}",
      done: "Ein neuer Code ist unterwegs. Der alte gilt nicht mehr.",
    },
    email_address_set: { label: "Weiter" },
    username_set: { label: "Weiter" },
    skip: { label: "Jetzt nicht" },
    back: { label: "Zurück" },
  },
  inputs: {
    identifier: { label: "E-Mail oder Benutzername" },
    email: {
      label: "E-Mail",
      errors: {
        value_invalid_error: "Das sieht nicht nach einer E-Mail-Adresse aus. Ist es ein Tippfehler?",
      },
    },
    username: { label: "Benutzername" },
    password: {
      label: "Passwort",
      errors: { value_invalid_error: "Dieses Passwort passt nicht. Bitte versuchen Sie es noch einmal." },
    },
    new_password: {
      label: "Neues Passwort",
      hint: "Mindestens {min} Zeichen. Einige Wörter hintereinander sind eine gute Wahl.",
      errors: {
        value_invalid_error:
          "Dieses Passwort ist zu verbreitet, um sicher zu sein. Bitte wählen Sie ein anderes.",
      },
    },
    code: { label: "Code", errors: { value_too_short_error: "Der Code hat sechs Ziffern." } },
    remember_me: { label: "Angemeldet bleiben" },
  },
  errors: {
    form_data_invalid_error: "Bitte prüfen Sie Ihre Eingabe.",
    value_missing_error: "Bitte füllen Sie dieses Feld aus.",
    value_invalid_error: "Das kann nicht stimmen. Bitte prüfen Sie es.",
    value_too_short_error: "Bitte verwenden Sie mindestens {min} Zeichen.",
    value_too_long_error: "Bitte verwenden Sie höchstens {max} Zeichen.",
    email_already_exists: "Zu dieser E-Mail-Adresse gibt es schon ein Konto.",
    username_already_exists: "Dieser Benutzername ist vergeben. Bitte wählen Sie einen anderen.",
    unknown_email_error: "Zu dieser E-Mail-Adresse kennen wir kein Konto.",
    unknown_username_error: "Zu diesem Benutzernamen kennen wir kein Konto.",
    invalid_username_error: "Ein Benutzername besteht nur aus Buchstaben, Ziffern und Unterstrichen.",
    passcode_invalid:
      "Das ist nicht der Code, den wir geschickt haben, oder er ist zu alt. Bitte prüfen Sie ihn.",
    passcode_max_attempts_reached: "Das war ein Versuch zu viel. Bitte fordern Sie einen neuen Code an.",
    passkey_invalid:
      "Diesen Passkey konnten wir nicht annehmen. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
    webauthn_credential_invalid_mfa_only:
      "Dieser Sicherheitsschlüssel ist nur ein zweiter Schritt. Bitte melden Sie sich zuerst anders an.",
    operation_not_permitted_error:
      "Dieser Schritt ist nicht mehr offen. Vielleicht ist er in einem anderen Fenster erledigt.",
    flow_discontinuity_error: "Von hier geht es nicht weiter. Bitte beginnen Sie noch einmal.",
    flow_expired_error: "Sie waren eine Weile weg. Zu Ihrer Sicherheit haben wir diese Seite geschlossen.",
    rate_limit_exceeded:
      "Das war etwas schnell. Bitte warten Sie einen Augenblick und versuchen Sie es dann noch einmal.",
    technical_error:
      "Bei uns ist etwas schiefgegangen. Es liegt nicht an Ihnen. Bitte versuchen Sie es noch einmal.",
    webauthn_credential_already_exists: "Auf diesem Gerät gibt es schon einen Passkey für dieses Konto.",
    passkey_cancelled:
      "Der Passkey wurde nicht verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
    passkey_failed: "Ihr Browser konnte hier keinen Passkey verwenden. Bitte wählen Sie einen anderen Weg.",
    connection_lost: "Die Verbindung ist abgerissen. Wir versuchen es noch einmal…",
    connection_missing: "Der Dienst ist nicht erreichbar. Bitte prüfen Sie Ihre Verbindung.",
    connection_back: "Die Verbindung steht wieder. Bitte wiederholen Sie den letzten Schritt.",
    page_out_of_date: "Sie haben anderswo weitergemacht. Diese Seite ist jetzt auf demselben Stand.",
    page_renewed: "Sie waren eine Weile weg. Wir haben von vorn begonnen.",
    not_json: "Das ist kein gültiges JSON.",
  },
  page: {
    optional: "freiwillig",
    or: "oder",
    showPassword: "Passwort zeigen",
    hidePassword: "Passwort verbergen",
    apply: "Übernehmen",
    choose: "Bitte wählen",
    startAgain: "Von vorn beginnen",
    tryAgain: "Noch einmal versuchen",
    tryAgainIn: "Noch einmal in {time}",
    waitFor: "In {time} können Sie es noch einmal versuchen.",
    signedInAs: "Angemeldet als",
    returning: "Es geht zurück zu {host}…",
    nothingToDo: "Hier ist im Augenblick nichts zu tun.",
    languages: "Sprache",
    working: "Einen Augenblick…",
    secret: "Schlüssel",
    qrCode: "QR-Code zum Scannen mit Ihrer App",
    troubleTitle: "Auf dieser Seite ist etwas kaputtgegangen",
    reload: "Neu laden",
    notFoundTitle: "Hier ist keine Seite",
    notFoundSentence: "Vielleicht enthält die Adresse einen Tippfehler, oder die Seite ist umgezogen.",
    toSignIn: "Zur Anmeldung",
  },
};
