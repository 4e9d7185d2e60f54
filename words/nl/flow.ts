import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid:
    "We konden deze beveiligingssleutel niet accepteren. Probeer het opnieuw of gebruik een andere.",
  passkey_cancelled:
    "De beveiligingssleutel is niet gebruikt. Probeer het opnieuw of kies een andere manier.",
  passkey_failed: "Je browser kon hier geen beveiligingssleutel gebruiken. Kies een andere manier.",
  webauthn_credential_already_exists: "Deze beveiligingssleutel hoort al bij je account.",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "Welkom",
      sentence: "Nog één stap en je kunt beginnen.",
    },
    login_init: {
      title: "Inloggen",
      sentence: "Fijn dat je er weer bent.",
      other: { flow: "registration", question: "Nieuw hier?", label: "Account maken" },
    },
    login_passkey: {
      title: "Gebruik je passkey",
      sentence:
        "Je browser vraagt erom. Bevestig met je vingerafdruk, gezicht, schermvergrendeling of beveiligingssleutel.",
      variants: {
        signed_in: {
          title: "Gebruik je passkey",
          sentence: "Bevestig dat jij het bent voordat je iets belangrijks wijzigt.",
        },
        security_key: {
          title: "Gebruik je beveiligingssleutel",
          sentence: "Je browser vraagt erom. Sluit de sleutel aan of houd hem dichtbij, en raak hem aan.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "Hoe wil je inloggen?",
      variants: {
        signed_in: {
          title: "Ben jij het nog?",
          sentence: "Bevestig dat jij het bent voordat je iets belangrijks wijzigt.",
        },
      },
    },
    login_password: {
      title: "Voer je wachtwoord in",
      variants: {
        signed_in: {
          title: "Voer je wachtwoord in",
          sentence: "Bevestig dat jij het bent voordat je iets belangrijks wijzigt.",
        },
      },
    },
    login_password_recovery: {
      title: "Kies een nieuw wachtwoord",
      sentence: "Het vervangt het oude overal.",
    },
    passcode_confirmation: {
      title: "Bekijk je e-mail",
      sentence: "We hebben je een code van zes cijfers gestuurd. Die is {time} geldig.",
      sentenceWithSubject:
        "We hebben een code van zes cijfers naar {subject} gestuurd. Die is {time} geldig.",
      note: "Niets ontvangen? Kijk ook in je spammap.",
      variants: {
        letters: {
          sentence: "We hebben je een code van zes tekens gestuurd. Die is {time} geldig.",
          sentenceWithSubject:
            "We hebben een code van zes tekens naar {subject} gestuurd. Die is {time} geldig.",
        },
      },
    },
    phone_confirmation: {
      title: "Bekijk je telefoon",
      sentence: "We hebben je een code van zes cijfers per sms gestuurd. Die is {time} geldig.",
      sentenceWithSubject:
        "We hebben een code van zes cijfers per sms naar {subject} gestuurd. Die is {time} geldig.",
    },
    password_creation: {
      title: "Stel een wachtwoord in",
      sentence: "Daarmee log je in op elk apparaat.",
    },
    onboarding_email: {
      title: "Voeg je e-mailadres toe",
      sentence: "Zo kom je altijd weer in je account.",
      variants: {
        no_address: {
          title: "Voeg je e-mailadres toe",
          sentence:
            "De dienst waarmee je bent ingelogd heeft ons je e-mailadres niet gegeven. Daarmee kom je altijd weer in je account.",
        },
      },
    },
    onboarding_username: {
      title: "Kies een gebruikersnaam",
      sentence: "Een korte naam om mee in te loggen.",
    },
    credential_onboarding_chooser: {
      title: "Hoe log je de volgende keer in?",
      sentence: "Het andere kun je later toevoegen.",
    },
    onboarding_create_passkey: {
      title: "Inloggen zonder wachtwoord",
      sentence:
        "Met een passkey is je vingerafdruk, gezicht of schermvergrendeling genoeg. Je hoeft niets te onthouden, en bij ons valt niets te stelen.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Maak je passkey",
      sentence: "Je browser vraagt waar je hem wilt bewaren. Volg de stappen.",
      variants: {
        security_key: {
          title: "Stel je beveiligingssleutel in",
          sentence: "Sluit de sleutel aan of houd hem dichtbij, en volg de stappen van je browser.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Maak je account",
      sentence: "Het kost je minder dan een minuut.",
      other: { flow: "login", question: "Al eerder hier geweest?", label: "Ik heb een account" },
      variants: {
        closed: {
          title: "Nu geen nieuwe accounts",
          sentence:
            "Op dit moment kunnen hier geen nieuwe accounts worden gemaakt. Heb je er al een, dan kun je inloggen.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "Een moment",
      sentence: "Je logt in op de andere site en komt meteen weer terug.",
      actions: { exchange_token: { label: "Doorgaan" } },
      errors: {
        form_data_invalid_error:
          "Inloggen op de andere site is niet gelukt. Probeer het opnieuw of kies een andere manier.",
      },
      variants: {
        rejected: {
          title: "Dat is niet gelukt",
          actions: { back: { label: "Andere manieren om in te loggen" } },
        },
        not_connected: { title: "Dat is niet gelukt", actions: { back: { label: "Naar je account" } } },
      },
    },
    login_otp: {
      title: "Voer de code van je app in",
      sentence:
        "Open je authenticator-app. Die toont een code van zes cijfers, elke halve minuut een nieuwe.",
    },
    login_security_key: {
      title: "Bevestig met je beveiligingssleutel",
      sentence: "Dit is de tweede stap van het inloggen. Houd de sleutel bij de hand.",
      actions: {
        webauthn_generate_request_options: { label: "Beveiligingssleutel gebruiken" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Bevestig met je telefoon",
      sentence: "Scan deze code met de app op je telefoon, en bevestig daar dat jij het bent.",
      actions: { continue_to_login_otp: { label: "Liever een code van zes cijfers invoeren" } },
      variants: {
        waits: {
          title: "Bevestig met je telefoon",
          sentence: "Over een moment kun je een nieuwe code scannen.",
          actions: {
            authenticator_verify: { label: "Nieuwe code tonen", waiting: "Nieuwe code over {time}" },
            continue_to_login_otp: { label: "Liever een code van zes cijfers invoeren" },
          },
          errors: {
            rate_limit_exceeded: "Er zijn net veel codes aangevraagd. Wacht een moment.",
            authenticator_request_expired: "Er zijn net veel codes aangevraagd. Wacht een moment.",
            authenticator_request_failed:
              "Je telefoon heeft niet bevestigd. Wacht op een nieuwe code of kies een andere manier.",
          },
        },
      },
    },
    login_sms: {
      title: "Vul de code uit de sms in",
      sentence:
        "Dit is de tweede stap van het inloggen. We hebben hem naar het telefoonnummer van je account gestuurd.",
    },
    mfa_method_chooser: {
      title: "Voeg een tweede stap toe",
      sentence: "Dan komt niemand binnen met alleen een gestolen wachtwoord. Wat wil je gebruiken?",
    },
    mfa_otp_secret_creation: {
      title: "Stel je authenticator-app in",
      sentence:
        "Scan de afbeelding met de app, of kopieer de sleutel erin. Voer daarna de code in die de app toont.",
    },
    mfa_security_key_creation: {
      title: "Stel een beveiligingssleutel in",
      sentence: "Een klein apparaat dat je aansluit of dichtbij houdt. Houd hem bij de hand.",
      actions: { webauthn_generate_creation_options: { label: "Beveiligingssleutel instellen" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Codes per sms instellen",
      sentence:
        "We sturen je een code om het nummer te bevestigen. Daarna wordt bij elke keer inloggen om een code gevraagd.",
      actions: { phone_set: { label: "Doorgaan" } },
    },
    device_trust: {
      title: "Is dit je eigen apparaat?",
      sentence: "Als alleen jij het gebruikt, kunnen we de tweede stap hier een tijdje overslaan.",
    },
    webauthn_credential_verification: {
      title: "Maak je passkey",
      sentence: "Je browser vraagt waar je hem wilt bewaren. Volg de stappen.",
      variants: {
        security_key: {
          title: "Stel je beveiligingssleutel in",
          sentence: "Sluit de sleutel aan of houd hem dichtbij, en volg de stappen van je browser.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "Je bent ingelogd",
      sentence: "Je kunt deze pagina nu sluiten.",
    },
    error: {
      title: "Dat is niet gelukt",
      variants: { signed_out: { title: "Log eerst in" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "Doorgaan" },
    continue_with_login_identifier: { label: "Doorgaan" },
    register_login_identifier: { label: "Doorgaan" },
    webauthn_generate_request_options: {
      label: "Inloggen met een passkey",
      hint: "Vingerafdruk, gezicht, schermvergrendeling of beveiligingssleutel",
    },
    webauthn_generate_creation_options: { label: "Passkey maken" },
    remember_me: { label: "Ingelogd blijven" },
    continue_to_password_login: {
      label: "Wachtwoord invoeren",
      hint: "Het wachtwoord van dit account",
    },
    continue_to_passcode_confirmation: {
      label: "Code per e-mail ontvangen",
      hint: "Enkele minuten geldig",
    },
    continue_to_phone_confirmation: { label: "Code per sms ontvangen", hint: "Enkele minuten geldig" },
    continue_to_passcode_confirmation_recovery: { label: "Wachtwoord vergeten?" },
    continue_to_passkey_registration: {
      label: "Met een passkey",
      hint: "Vingerafdruk, gezicht of schermvergrendeling; niets te onthouden",
    },
    continue_to_password_registration: { label: "Met een wachtwoord", hint: "Werkt op elk apparaat" },
    password_login: { label: "Inloggen" },
    password_recovery: { label: "Nieuw wachtwoord opslaan" },
    register_password: { label: "Wachtwoord opslaan" },
    verify_passcode: { label: "Bevestigen" },
    resend_passcode: {
      label: "Nieuwe code sturen",
      waiting: "Nieuwe code over {time}",
      done: "Er is een nieuwe code onderweg. De oude werkt niet meer.",
    },
    email_address_set: { label: "Doorgaan" },
    username_set: { label: "Doorgaan" },
    skip: { label: "Niet nu" },
    back: { label: "Terug" },
    thirdparty_oauth: { label: "Doorgaan met" },
    exchange_token: { label: "Doorgaan" },
    otp_code_validate: { label: "Bevestigen" },
    otp_code_verify: { label: "Bevestigen" },
    recovery_code_validate: {
      label: "Herstelcode gebruiken",
      hint: "Een van de codes die je hebt bewaard toen je de tweede stap instelde. Elke code werkt één keer.",
      submit: "Deze code gebruiken",
    },
    continue_to_login_otp: { label: "Liever een code van je app gebruiken" },
    continue_to_login_security_key: { label: "Liever een beveiligingssleutel gebruiken" },
    continue_to_login_method_chooser: { label: "Andere manieren om in te loggen" },
    continue_to_login_authenticator: { label: "Liever met je telefoon bevestigen" },
    authenticator_verify: { label: "Ik heb bevestigd" },
    continue_to_otp_secret_creation: {
      label: "Een authenticator-app",
      hint: "Toont elke halve minuut een nieuwe code, op je telefoon",
    },
    continue_to_security_key_creation: {
      label: "Een beveiligingssleutel",
      hint: "Een klein apparaat dat je aansluit of dichtbij houdt",
    },
    continue_to_phone_creation: { label: "Codes per sms", hint: "Op je telefoonnummer; een app is veiliger" },
    consent_allow: { label: "Toestaan" },
    consent_deny: { label: "Niet toestaan" },
    device_code_verify: { label: "Doorgaan" },
    trust_device: { label: "Ja, dit apparaat vertrouwen" },
    phone_set: {
      label: "Instellen",
      submit: "Doorgaan",
      done: "Het telefoonnummer is ingesteld.",
    },
    username_create: {
      label: "Gebruikersnaam kiezen",
      submit: "Opslaan",
      done: "Je gebruikersnaam is ingesteld.",
    },
  },
  inputs: {
    user_code: {
      label: "Code",
      errors: { value_invalid_error: "Deze code is onjuist, verlopen of al gebruikt." },
    },
    identifier: { label: "E-mailadres of gebruikersnaam" },
    email: {
      label: "E-mailadres",
      errors: { value_invalid_error: "Dit lijkt geen e-mailadres. Zit er een typefout in?" },
    },
    username: { label: "Gebruikersnaam" },
    phone: {
      label: "Telefoonnummer",
      hint: "Met de landcode, zoals +31 6 12345678",
      errors: { value_invalid_error: "Dit lijkt geen telefoonnummer. Begint het met de landcode?" },
    },
    password: {
      label: "Wachtwoord",
      errors: { value_invalid_error: "Dit wachtwoord klopt niet. Probeer het opnieuw." },
    },
    new_password: {
      label: "Nieuw wachtwoord",
      hint: "Minstens {min} tekens. Een paar woorden achter elkaar werkt goed.",
      errors: {
        value_invalid_error: "Dit wachtwoord wordt te vaak gebruikt om veilig te zijn. Kies een ander.",
      },
    },
    code: { label: "Code", errors: { value_too_short_error: "Vul de hele code in." } },
    remember_me: { label: "Ingelogd blijven" },
    provider: { label: "Doorgaan met" },
    otp_code: {
      label: "Code",
      errors: {
        value_too_short_error: "De code heeft zes cijfers.",
        passcode_invalid: "Deze code klopt niet. Kijk nog eens in je app.",
      },
    },
    recovery_code: { label: "Herstelcode" },
  },
  errors: {
    form_data_invalid_error: "Controleer wat je hebt ingevuld.",
    value_missing_error: "Vul dit in.",
    value_invalid_error: "Dit kan niet kloppen. Controleer het.",
    value_too_short_error: "Gebruik minstens {min} tekens.",
    value_too_long_error: "Gebruik hoogstens {max} tekens.",
    email_already_exists: "Er is al een account met dit e-mailadres.",
    username_already_exists: "Deze gebruikersnaam is al bezet. Kies een andere.",
    unknown_email_error: "We kennen geen account met dit e-mailadres.",
    unknown_username_error: "We kennen geen account met deze gebruikersnaam.",
    phone_number_already_exists: "Er is al een account met dit telefoonnummer.",
    phone_number_not_allowed:
      "Naar dit nummer kunnen geen codes worden gestuurd. Gebruik het nummer van een mobiele telefoon uit een land dat hier wordt bediend.",
    unknown_phone_number_error: "We kennen geen account met dit telefoonnummer.",
    invalid_username_error: "Een gebruikersnaam bestaat alleen uit letters, cijfers en underscores.",
    passcode_invalid: "Dit is niet de code die we hebben gestuurd, of hij is verlopen. Controleer hem.",
    passcode_max_attempts_reached: "Dat was één poging te veel. Vraag een nieuwe code aan.",
    passkey_invalid: "We konden deze passkey niet accepteren. Probeer het opnieuw of log anders in.",
    webauthn_credential_invalid_mfa_only:
      "Deze beveiligingssleutel is alleen een tweede stap. Log eerst op een andere manier in.",
    operation_not_permitted_error:
      "Deze stap is niet meer open. Misschien is hij in een ander venster afgerond.",
    flow_discontinuity_error: "Vanaf hier kun je niet verder. Begin opnieuw.",
    flow_expired_error: "Je was een tijdje weg. Voor je veiligheid hebben we deze pagina gesloten.",
    rate_limit_exceeded: "Dat ging iets te snel. Wacht een moment en probeer het opnieuw.",
    temporarily_unavailable: "Dat lukte net niet. Er is niets verloren: probeer het zo nog eens.",
    technical_error: "Er ging iets mis aan onze kant. Het ligt niet aan jou. Probeer het opnieuw.",
    unauthorized: "Alleen jij kunt je account zien. Log in om het te bekijken.",
    forbidden: "Dit is hier niet beschikbaar.",
    not_found: "Het bestaat niet meer. Misschien heb je het in een ander venster verwijderd.",
    platform_authenticator_required:
      "Je account vraagt om een tweede stap die dit apparaat niet ondersteunt. Gebruik een ander apparaat.",
    user_conflict:
      "Er is al een account met dit e-mailadres. Log daar eerst in en koppel dan het andere account.",
    account_blocked: "Dit account is geblokkeerd. Neem contact op met de dienst waar het bij hoort.",
    signup_disabled: "Op dit moment kunnen hier geen nieuwe accounts worden gemaakt.",
    third_party_access_denied:
      "Je bent teruggegaan, of de andere site liet je niet binnen. Je kunt het opnieuw proberen.",
    identity_not_linked: "Dat is niet het account dat hier is gekoppeld. Gebruik het gekoppelde.",
    identity_already_linked: "Dit account is al gekoppeld aan dat van iemand anders.",
    otp_code_invalid: "Deze code klopt niet. Kijk nog eens in je app.",
    otp_code_already_used: "Deze code is al gebruikt. Wacht op de volgende.",
    recovery_code_invalid: "Dit is niet een van je herstelcodes, of hij is al gebruikt.",
    authenticator_request_pending:
      "Je telefoon heeft nog niet bevestigd. Scan de code en bevestig op je telefoon.",
    authenticator_request_failed:
      "Je telefoon heeft niet bevestigd. Scan de nieuwe code om het opnieuw te proberen, of kies een andere manier.",
    authenticator_request_expired: "De code was verlopen. Scan de nieuwe.",
    invalid_metadata_error: "Dit moet een JSON-object van hoogstens 3000 tekens zijn.",
    webauthn_credential_already_exists: "Op dit apparaat is al een passkey voor dit account.",
    passkey_cancelled: "De passkey is niet gebruikt. Probeer het opnieuw of kies een andere manier.",
    passkey_failed: "Je browser kon hier geen passkey gebruiken. Kies een andere manier.",
    connection_lost: "De verbinding is verbroken. We proberen het opnieuw…",
    connection_missing: "We kunnen de dienst niet bereiken. Controleer je verbinding.",
    origin_refused:
      "Deze pagina kan het inloggen niet tonen: de dienst kent haar adres niet. De makers kunnen dit verhelpen.",
    connection_back: "De verbinding is hersteld. Herhaal je laatste stap.",
    cookies_blocked:
      "Je browser bewaart geen cookies voor deze pagina, en om in te loggen is er een nodig. Sta cookies toe en laad de pagina opnieuw.",
    page_out_of_date: "Je bent ergens anders verdergegaan. We hebben deze pagina bijgewerkt.",
    proved_again: "Bedankt. Je kunt nu wijzigen wat je wilde wijzigen.",
    page_renewed: "Je was een tijdje weg, dus we zijn opnieuw begonnen.",
    not_json: "Dit is geen geldige JSON.",
    third_party_failed:
      "Inloggen op de andere site is niet gelukt. Probeer het opnieuw of kies een andere manier.",
    multiple_accounts: "Het e-mailadres van het andere account is hier van iemand anders.",
    unverified_email: "De andere site heeft je e-mailadres niet bevestigd. Bevestig het daar eerst.",
    email_maxnum: "Je account heeft het maximale aantal e-mailadressen.",
  },
  links: { terms: "Gebruiksvoorwaarden", privacy: "Privacyverklaring", help: "Hulp" },
  consent: {
    terms: "Door je te registreren accepteer je dit: {link}.",
    privacy: "Wat er met je gegevens gebeurt: {link}.",
  },
  page: {
    ...messages,
    account: "Account",
    useAnother: "Een ander account gebruiken",
    supportNumber: "Supportnummer",
    signInInstead: "Inloggen met dit adres",
    waitingForBrowser: "Wachten op je browser…",
    nothingHappens: "Gebeurt er niets? Probeer het opnieuw, of ga terug en kies een andere manier.",
    optional: "optioneel",
    or: "of",
    showPassword: "Wachtwoord tonen",
    hidePassword: "Wachtwoord verbergen",
    apply: "Toepassen",
    choose: "Maak een keuze",
    startAgain: "Opnieuw beginnen",
    tryAgain: "Opnieuw proberen",
    tryAgainIn: "Opnieuw proberen over {time}",
    waitFor: "Over {time} kun je het opnieuw proberen.",
    signedInAs: "Ingelogd als",
    returning: "Terug naar {host}…",
    nothingToDo: "Er is hier op dit moment niets te doen.",
    languages: "Taal",
    working: "Een moment…",
    secret: "Sleutel",
    qrCode: "QR-code om met je app te scannen",
    waitingForAuthenticator: "We wachten op je telefoon. Deze pagina gaat vanzelf verder.",
    errorTitle: "Er ging iets mis op deze pagina",
    reload: "Opnieuw laden",
    toSignIn: "Naar het inloggen",
    toAccount: "Naar je account",
    signIn: "Inloggen",
    continueAt: "Verder op {host}",
    continueWith: "Doorgaan met {provider}",
    copy: "Kopiëren",
    copied: "Gekopieerd",
    download: "Downloaden",
    print: "Afdrukken",
    recoveryCodes: "Je herstelcodes",
    recoveryCodesSentence:
      "Als je je tweede stap kwijtraakt, kom je met een van deze codes binnen. Elke code werkt één keer. Bewaar ze goed: we tonen ze alleen nu.",
    recoveryCodesFile: "herstelcodes",
    saved: "Ik heb ze bewaard",
    confirm: "Weet je het zeker?",
    cancel: "Annuleren",
  },
};

export const flow = withAccount(signIn, account);
