import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about Sicherheitsschlüssel, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid:
    "Diesen Sicherheitsschlüssel konnten wir nicht annehmen. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen.",
  passkey_cancelled:
    "Der Sicherheitsschlüssel wurde nicht verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
  passkey_failed:
    "Ihr Browser konnte hier keinen Sicherheitsschlüssel verwenden. Bitte wählen Sie einen anderen Weg.",
  webauthn_credential_already_exists: "Dieser Sicherheitsschlüssel gehört schon zu Ihrem Konto.",
};

const signIn: SignInWords = {
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
      variants: {
        signed_in: {
          title: "Passkey verwenden",
          sentence: "Bevor Sie etwas Wichtiges ändern, bestätigen Sie bitte, dass Sie es sind.",
        },
        security_key: {
          title: "Sicherheitsschlüssel verwenden",
          sentence:
            "Ihr Browser fragt danach. Stecken Sie ihn ein oder halten Sie ihn nah heran, und berühren Sie ihn dann.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "Wie möchten Sie sich anmelden?",
      variants: {
        signed_in: {
          title: "Sind es noch Sie?",
          sentence: "Bevor Sie etwas Wichtiges ändern, bestätigen Sie bitte, dass Sie es sind.",
        },
      },
    },
    login_password: {
      title: "Passwort eingeben",
      variants: {
        signed_in: {
          title: "Passwort eingeben",
          sentence: "Bevor Sie etwas Wichtiges ändern, bestätigen Sie bitte, dass Sie es sind.",
        },
      },
    },
    login_password_recovery: {
      title: "Neues Passwort wählen",
      sentence: "Es ersetzt überall das alte.",
    },
    passcode_confirmation: {
      title: "Sehen Sie in Ihr Postfach",
      sentence: "Wir haben Ihnen einen Code aus sechs Ziffern geschickt. Er gilt {time}.",
      sentenceWithSubject: "Wir haben einen Code aus sechs Ziffern an {subject} geschickt. Er gilt {time}.",
      note: "Nichts da? Sehen Sie bitte auch im Spam-Ordner nach.",
      variants: {
        letters: {
          sentence: "Wir haben Ihnen einen Code aus sechs Zeichen geschickt. Er gilt {time}.",
          sentenceWithSubject:
            "Wir haben einen Code aus sechs Zeichen an {subject} geschickt. Er gilt {time}.",
        },
      },
    },
    phone_confirmation: {
      title: "Sehen Sie auf Ihr Telefon",
      sentence: "Wir haben Ihnen einen Code aus sechs Ziffern per SMS geschickt. Er gilt {time}.",
      sentenceWithSubject:
        "Wir haben einen Code aus sechs Ziffern per SMS an {subject} geschickt. Er gilt {time}.",
    },
    password_creation: {
      title: "Passwort festlegen",
      sentence: "Damit melden Sie sich auf jedem Gerät an.",
    },
    onboarding_email: {
      title: "E-Mail-Adresse hinzufügen",
      sentence: "Damit Sie immer wieder in Ihr Konto kommen.",
      variants: {
        no_address: {
          title: "E-Mail-Adresse hinzufügen",
          sentence:
            "Der Dienst, mit dem Sie sich angemeldet haben, hat uns Ihre E-Mail-Adresse nicht mitgeteilt. Mit ihr kommen Sie immer wieder in Ihr Konto.",
        },
      },
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
      variants: {
        security_key: {
          title: "Sicherheitsschlüssel einrichten",
          sentence:
            "Stecken Sie ihn ein oder halten Sie ihn nah heran, und folgen Sie den Schritten Ihres Browsers.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Konto erstellen",
      sentence: "Das dauert keine Minute.",
      other: { flow: "login", question: "Schon einmal hier gewesen?", label: "Ich habe ein Konto" },
      variants: {
        closed: {
          title: "Zurzeit keine neuen Konten",
          sentence:
            "Neue Konten können hier zurzeit nicht erstellt werden. Wenn Sie schon eines haben, können Sie sich anmelden.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "Einen Augenblick",
      sentence: "Sie melden sich auf der anderen Seite an und kommen gleich zurück.",
      actions: { exchange_token: { label: "Weiter" } },
      errors: {
        form_data_invalid_error:
          "Die Anmeldung auf der anderen Seite hat nicht geklappt. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
      },
      variants: {
        rejected: {
          title: "Das hat nicht geklappt",
          actions: { back: { label: "Andere Wege zur Anmeldung" } },
        },
        not_connected: { title: "Das hat nicht geklappt", actions: { back: { label: "Zu Ihrem Konto" } } },
      },
    },
    login_otp: {
      title: "Code Ihrer App eingeben",
      sentence:
        "Öffnen Sie Ihre Authenticator-App. Sie zeigt einen sechsstelligen Code, jede halbe Minute einen neuen.",
    },
    login_security_key: {
      title: "Mit Sicherheitsschlüssel bestätigen",
      sentence: "Das ist der zweite Schritt Ihrer Anmeldung. Halten Sie den Schlüssel bereit.",
      actions: {
        webauthn_generate_request_options: { label: "Sicherheitsschlüssel verwenden" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Mit dem Telefon bestätigen",
      sentence:
        "Scannen Sie diesen Code mit der App auf Ihrem Telefon, und bestätigen Sie dort, dass Sie es sind.",
      actions: { continue_to_login_otp: { label: "Stattdessen sechs Ziffern eingeben" } },
      variants: {
        waits: {
          title: "Mit dem Telefon bestätigen",
          sentence: "Gleich können Sie einen neuen Code zum Scannen bekommen.",
          actions: {
            authenticator_verify: { label: "Neuen Code anzeigen", waiting: "Neuer Code in {time}" },
            continue_to_login_otp: { label: "Stattdessen sechs Ziffern eingeben" },
          },
          errors: {
            rate_limit_exceeded: "Das waren eben viele solche Codes. Bitte warten Sie einen Augenblick.",
            authenticator_request_expired:
              "Das waren eben viele solche Codes. Bitte warten Sie einen Augenblick.",
            authenticator_request_failed:
              "Ihr Telefon hat nicht bestätigt. Warten Sie einen Augenblick auf einen neuen Code, oder wählen Sie einen anderen Weg.",
          },
        },
      },
    },
    login_sms: {
      title: "Geben Sie den Code aus der SMS ein",
      sentence:
        "Das ist der zweite Schritt Ihrer Anmeldung. Wir haben ihn an die Telefonnummer Ihres Kontos geschickt.",
    },
    mfa_method_chooser: {
      title: "Einen zweiten Schritt hinzufügen",
      sentence: "Dann lässt ein gestohlenes Passwort allein niemanden hinein. Was möchten Sie verwenden?",
    },
    mfa_otp_secret_creation: {
      title: "Authenticator-App einrichten",
      sentence:
        "Scannen Sie das Bild mit der App, oder kopieren Sie den Schlüssel hinein. Geben Sie dann den Code ein, den sie zeigt.",
    },
    mfa_security_key_creation: {
      title: "Sicherheitsschlüssel einrichten",
      sentence: "Ein kleines Gerät, das Sie einstecken oder nah heranhalten. Halten Sie es bereit.",
      actions: { webauthn_generate_creation_options: { label: "Sicherheitsschlüssel einrichten" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Codes per SMS einrichten",
      sentence:
        "Wir schicken Ihnen einen Code, um die Nummer zu bestätigen. Danach wird bei jeder Anmeldung nach einem gefragt.",
      actions: { phone_set: { label: "Weiter" } },
    },
    device_trust: {
      title: "Ist das Ihr eigenes Gerät?",
      sentence: "Wenn nur Sie es benutzen, können wir hier den zweiten Schritt eine Weile weglassen.",
    },
    webauthn_credential_verification: {
      title: "Passkey erstellen",
      sentence: "Ihr Browser fragt, wo er gespeichert werden soll. Folgen Sie seinen Schritten.",
      variants: {
        security_key: {
          title: "Sicherheitsschlüssel einrichten",
          sentence:
            "Stecken Sie ihn ein oder halten Sie ihn nah heran, und folgen Sie den Schritten Ihres Browsers.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "Sie sind angemeldet",
      sentence: "Sie können diese Seite jetzt schließen.",
    },
    error: {
      title: "Das hat nicht geklappt",
      variants: { signed_out: { title: "Bitte melden Sie sich an" } },
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
      hint: "Einige Minuten gültig",
    },
    continue_to_phone_confirmation: { label: "Code per SMS", hint: "Einige Minuten gültig" },
    continue_to_passcode_confirmation_recovery: { label: "Passwort vergessen?" },
    continue_to_passkey_registration: {
      label: "Mit einem Passkey",
      hint: "Fingerabdruck, Gesicht oder Bildschirmsperre; nichts zu merken",
    },
    continue_to_password_registration: { label: "Mit einem Passwort", hint: "Geht auf jedem Gerät" },
    password_login: { label: "Anmelden" },
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
    thirdparty_oauth: { label: "Weiter mit" },
    exchange_token: { label: "Weiter" },
    otp_code_validate: { label: "Bestätigen" },
    otp_code_verify: { label: "Bestätigen" },
    recovery_code_validate: {
      label: "Wiederherstellungscode verwenden",
      hint: "Einer der Codes, die Sie beim Einrichten des zweiten Schritts gespeichert haben. Jeder gilt einmal.",
      submit: "Diesen Code verwenden",
    },
    continue_to_login_otp: { label: "Stattdessen einen Code der App verwenden" },
    continue_to_login_security_key: { label: "Stattdessen einen Sicherheitsschlüssel verwenden" },
    continue_to_login_method_chooser: { label: "Andere Wege zur Anmeldung" },
    continue_to_login_authenticator: { label: "Stattdessen mit dem Telefon bestätigen" },
    authenticator_verify: { label: "Ich habe bestätigt" },
    continue_to_otp_secret_creation: {
      label: "Eine Authenticator-App",
      hint: "Zeigt jede halbe Minute einen neuen Code; auf Ihrem Telefon",
    },
    continue_to_security_key_creation: {
      label: "Einen Sicherheitsschlüssel",
      hint: "Ein kleines Gerät, das Sie einstecken oder nah heranhalten",
    },
    continue_to_phone_creation: {
      label: "Codes per SMS",
      hint: "An Ihre Telefonnummer; eine App ist sicherer",
    },
    consent_allow: { label: "Erlauben" },
    consent_deny: { label: "Nicht erlauben" },
    device_code_verify: { label: "Weiter" },
    trust_device: { label: "Ja, diesem Gerät vertrauen" },
    phone_set: {
      label: "Festlegen",
      submit: "Weiter",
      done: "Die Telefonnummer ist festgelegt.",
    },
    username_create: {
      label: "Benutzernamen wählen",
      submit: "Speichern",
      done: "Ihr Benutzername ist festgelegt.",
    },
  },
  inputs: {
    user_code: {
      label: "Code",
      errors: { value_invalid_error: "Dieser Code ist falsch, abgelaufen oder schon benutzt." },
    },
    identifier: { label: "E-Mail oder Benutzername" },
    email: {
      label: "E-Mail",
      errors: {
        value_invalid_error: "Das sieht nicht nach einer E-Mail-Adresse aus. Ist es ein Tippfehler?",
      },
    },
    username: { label: "Benutzername" },
    phone: {
      label: "Telefonnummer",
      hint: "Mit Ländervorwahl, etwa +49 151 23456789",
      errors: {
        value_invalid_error:
          "Das sieht nicht nach einer Telefonnummer aus. Beginnt sie mit der Ländervorwahl?",
      },
    },
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
    code: { label: "Code", errors: { value_too_short_error: "Bitte geben Sie den ganzen Code ein." } },
    remember_me: { label: "Angemeldet bleiben" },
    provider: { label: "Weiter mit" },
    otp_code: {
      label: "Code",
      errors: {
        value_too_short_error: "Der Code hat sechs Ziffern.",
        passcode_invalid: "Dieser Code passt nicht. Bitte sehen Sie noch einmal in Ihre App.",
      },
    },
    recovery_code: { label: "Wiederherstellungscode" },
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
    phone_number_already_exists: "Zu dieser Telefonnummer gibt es schon ein Konto.",
    phone_number_not_allowed:
      "An diese Nummer können keine Codes geschickt werden. Bitte nehmen Sie eine Mobilnummer aus einem Land, das hier bedient wird.",
    unknown_phone_number_error: "Zu dieser Telefonnummer kennen wir kein Konto.",
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
    temporarily_unavailable:
      "Das ging gerade nicht. Es ist nichts verloren: Bitte versuchen Sie es gleich noch einmal.",
    technical_error:
      "Bei uns ist etwas schiefgegangen. Es liegt nicht an Ihnen. Bitte versuchen Sie es noch einmal.",
    unauthorized: "Ihr Konto sehen nur Sie. Melden Sie sich an, um es zu sehen.",
    forbidden: "Das gibt es hier nicht.",
    not_found: "Das gibt es nicht mehr. Vielleicht haben Sie es in einem anderen Fenster entfernt.",
    platform_authenticator_required:
      "Ihr Konto verlangt einen zweiten Schritt, den dieses Gerät nicht kann. Bitte nehmen Sie ein anderes.",
    user_conflict:
      "Zu dieser E-Mail-Adresse gibt es schon ein Konto. Melden Sie sich zuerst dort an, und verbinden Sie dann das andere.",
    account_blocked: "Dieses Konto ist gesperrt. Bitte wenden Sie sich an den Dienst, zu dem es gehört.",
    signup_disabled: "Neue Konten können hier zurzeit nicht erstellt werden.",
    third_party_access_denied:
      "Sie sind umgekehrt, oder die andere Seite hat Sie nicht durchgelassen. Versuchen Sie es gern noch einmal.",
    identity_not_linked: "Das ist nicht das Konto, das hier verbunden ist. Nehmen Sie das verbundene.",
    identity_already_linked: "Dieses Konto ist schon mit dem von jemand anderem verbunden.",
    otp_code_invalid: "Dieser Code passt nicht. Bitte sehen Sie noch einmal in Ihre App.",
    otp_code_already_used: "Dieser Code wurde schon verwendet. Bitte warten Sie auf den nächsten.",
    recovery_code_invalid: "Das ist keiner Ihrer Wiederherstellungscodes, oder er wurde schon verwendet.",
    authenticator_request_pending:
      "Ihr Telefon hat noch nicht bestätigt. Bitte scannen Sie den Code, und bestätigen Sie dort.",
    authenticator_request_failed:
      "Ihr Telefon hat nicht bestätigt. Scannen Sie den neuen Code, um es noch einmal zu versuchen, oder wählen Sie einen anderen Weg.",
    authenticator_request_expired: "Der Code war abgelaufen. Bitte scannen Sie den neuen.",
    invalid_metadata_error: "Das muss ein JSON-Objekt mit höchstens 3000 Zeichen sein.",
    webauthn_credential_already_exists: "Auf diesem Gerät gibt es schon einen Passkey für dieses Konto.",
    passkey_cancelled:
      "Der Passkey wurde nicht verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
    passkey_failed: "Ihr Browser konnte hier keinen Passkey verwenden. Bitte wählen Sie einen anderen Weg.",
    connection_lost: "Die Verbindung ist abgerissen. Wir versuchen es noch einmal…",
    connection_missing: "Der Dienst ist nicht erreichbar. Bitte prüfen Sie Ihre Verbindung.",
    origin_refused:
      "Diese Seite kann die Anmeldung nicht zeigen: Der Dienst kennt ihre Adresse nicht. Wer die Seite betreibt, kann das beheben.",
    connection_back: "Die Verbindung steht wieder. Bitte wiederholen Sie den letzten Schritt.",
    cookies_blocked:
      "Ihr Browser speichert für diese Seite keine Cookies, und zum Anmelden ist eines nötig. Bitte erlauben Sie Cookies und laden Sie die Seite neu.",
    page_out_of_date: "Sie haben anderswo weitergemacht. Diese Seite ist jetzt auf demselben Stand.",
    proved_again: "Danke. Sie können jetzt ändern, was Sie ändern wollten.",
    page_renewed: "Sie waren eine Weile weg. Wir haben von vorn begonnen.",
    not_json: "Das ist kein gültiges JSON.",
    third_party_failed:
      "Die Anmeldung auf der anderen Seite hat nicht geklappt. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
    multiple_accounts: "Die E-Mail-Adresse des anderen Kontos gehört hier jemand anderem.",
    unverified_email:
      "Die andere Seite hat Ihre E-Mail-Adresse nicht bestätigt. Bitte bestätigen Sie sie zuerst dort.",
    email_maxnum: "Ihr Konto hat schon so viele E-Mail-Adressen, wie es haben darf.",
  },
  links: { terms: "Nutzungsbedingungen", privacy: "Datenschutzerklärung", help: "Hilfe" },
  consent: {
    terms: "Mit der Anmeldung akzeptieren Sie diese {link}.",
    privacy: "Was mit Ihren Daten geschieht: {link}.",
  },
  page: {
    ...messages,
    account: "Konto",
    useAnother: "Anderes Konto verwenden",
    supportNumber: "Support-Nummer",
    signInInstead: "Mit dieser Adresse anmelden",
    waitingForBrowser: "Warten auf Ihren Browser…",
    nothingHappens:
      "Es passiert nichts? Versuchen Sie es noch einmal, oder gehen Sie zurück und wählen Sie einen anderen Weg.",
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
    waitingForAuthenticator: "Wir warten auf Ihr Telefon. Danach geht es von selbst weiter.",
    errorTitle: "Auf dieser Seite ist etwas kaputtgegangen",
    reload: "Neu laden",
    toSignIn: "Zur Anmeldung",
    toAccount: "Zu Ihrem Konto",
    signIn: "Anmelden",
    continueAt: "Weiter bei {host}",
    continueWith: "Weiter mit {provider}",
    copy: "Kopieren",
    copied: "Kopiert",
    download: "Herunterladen",
    print: "Drucken",
    recoveryCodes: "Ihre Wiederherstellungscodes",
    recoveryCodesSentence:
      "Sollten Sie Ihren zweiten Schritt verlieren, lässt einer davon Sie hinein. Jeder gilt einmal. Bewahren Sie sie gut auf: Wir zeigen sie nur jetzt.",
    recoveryCodesFile: "Wiederherstellungscodes",
    saved: "Ich habe sie gespeichert",
    confirm: "Sind Sie sicher?",
    cancel: "Abbrechen",
  },
};

export const flow = withAccount(signIn, account);
