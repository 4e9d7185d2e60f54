import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "Impossible accettare questa chiave di sicurezza. Riprovare o usarne un’altra.",
  passkey_cancelled: "La chiave di sicurezza non è stata usata. Riprovare o scegliere un altro metodo.",
  passkey_failed: "Il browser non ha potuto usare una chiave di sicurezza. Scegliere un altro metodo.",
  webauthn_credential_already_exists: "Questa chiave di sicurezza è già associata all’account.",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "Benvenuti",
      sentence: "Ancora un passaggio e si comincia.",
    },
    login_init: {
      title: "Accedi",
      sentence: "Bentornati.",
      other: { flow: "registration", question: "Prima visita?", label: "Crea un account" },
    },
    login_passkey: {
      title: "Usare la passkey",
      sentence:
        "Il browser la sta chiedendo. Confermare con impronta digitale, volto, blocco schermo o chiave di sicurezza.",
      variants: {
        signed_in: {
          title: "Usare la passkey",
          sentence: "Prima di una modifica importante, occorre confermare la propria identità.",
        },
        security_key: {
          title: "Usare la chiave di sicurezza",
          sentence: "Il browser la sta chiedendo. Inserirla o avvicinarla, quindi toccarla.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "Come desidera accedere?",
      variants: {
        signed_in: {
          title: "È sempre Lei?",
          sentence: "Prima di una modifica importante, occorre confermare la propria identità.",
        },
      },
    },
    login_password: {
      title: "Inserire la password",
      variants: {
        signed_in: {
          title: "Inserire la password",
          sentence: "Prima di una modifica importante, occorre confermare la propria identità.",
        },
      },
    },
    login_password_recovery: {
      title: "Scegliere una nuova password",
      sentence: "Sostituisce quella precedente ovunque.",
    },
    passcode_confirmation: {
      title: "Controllare la posta",
      sentence: "Abbiamo inviato un codice di sei cifre. È valido per {time}.",
      sentenceWithSubject: "Abbiamo inviato un codice di sei cifre a {subject}. È valido per {time}.",
      note: "Non è arrivato nulla? Controllare anche la cartella dello spam.",
      variants: {
        letters: {
          sentence: "Abbiamo inviato un codice di sei caratteri. È valido per {time}.",
          sentenceWithSubject: "Abbiamo inviato un codice di sei caratteri a {subject}. È valido per {time}.",
        },
      },
    },
    phone_confirmation: {
      title: "Controllare il telefono",
      sentence: "Abbiamo inviato un codice di sei cifre via SMS. È valido per {time}.",
      sentenceWithSubject: "Abbiamo inviato un codice di sei cifre via SMS a {subject}. È valido per {time}.",
    },
    password_creation: {
      title: "Impostare una password",
      sentence: "Consente di accedere da qualsiasi dispositivo.",
    },
    onboarding_email: {
      title: "Aggiungere un indirizzo email",
      sentence: "Per poter sempre rientrare nell’account.",
      variants: {
        no_address: {
          title: "Aggiungere un indirizzo email",
          sentence:
            "Il servizio usato per l’accesso non ci ha comunicato l’indirizzo email. Serve per poter sempre rientrare nell’account.",
        },
      },
    },
    onboarding_username: {
      title: "Scegliere un nome utente",
      sentence: "Un nome breve con cui accedere.",
    },
    credential_onboarding_chooser: {
      title: "Come desidera accedere la prossima volta?",
      sentence: "L’altro metodo si può aggiungere in seguito.",
    },
    onboarding_create_passkey: {
      title: "Accedere senza password",
      sentence:
        "Con una passkey bastano l’impronta digitale, il volto o il blocco schermo. Niente da ricordare, e niente che possa esserci rubato.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Creare la passkey",
      sentence: "Il browser chiede dove salvarla. Seguire le sue indicazioni per completare.",
      variants: {
        security_key: {
          title: "Configurare la chiave di sicurezza",
          sentence: "Inserirla o avvicinarla, quindi seguire le indicazioni del browser.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Creare un account",
      sentence: "Richiede meno di un minuto.",
      other: { flow: "login", question: "Già registrati?", label: "Ho un account" },
      variants: {
        closed: {
          title: "Nessun nuovo account al momento",
          sentence: "Al momento non è possibile creare nuovi account. Chi ne ha già uno può accedere.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "Un momento",
      sentence: "L’accesso avviene sull’altro sito, poi si torna subito qui.",
      actions: { exchange_token: { label: "Continua" } },
      errors: {
        form_data_invalid_error:
          "L’accesso sull’altro sito non è riuscito. Riprovare o scegliere un altro metodo.",
      },
      variants: {
        rejected: {
          title: "Qualcosa non ha funzionato",
          actions: { back: { label: "Altri modi per accedere" } },
        },
        not_connected: {
          title: "Qualcosa non ha funzionato",
          actions: { back: { label: "Vai all’account" } },
        },
      },
    },
    login_otp: {
      title: "Inserire il codice dell’app",
      sentence:
        "Aprire l’app di autenticazione. Mostra un codice di sei cifre, che cambia ogni trenta secondi.",
    },
    login_security_key: {
      title: "Confermare con la chiave di sicurezza",
      sentence: "È il secondo passaggio dell’accesso. Tenere la chiave a portata di mano.",
      actions: {
        webauthn_generate_request_options: { label: "Usa la chiave di sicurezza" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Confermare con il telefono",
      sentence: "Scansionare questo codice con l’app sul telefono e confermare lì la propria identità.",
      actions: { continue_to_login_otp: { label: "Inserisci invece un codice di sei cifre" } },
      variants: {
        waits: {
          title: "Confermare con il telefono",
          sentence: "Tra un momento sarà disponibile un nuovo codice da scansionare.",
          actions: {
            authenticator_verify: { label: "Mostra un nuovo codice", waiting: "Nuovo codice tra {time}" },
            continue_to_login_otp: { label: "Inserisci invece un codice di sei cifre" },
          },
          errors: {
            rate_limit_exceeded: "Sono stati richiesti molti codici. Attendere un momento.",
            authenticator_request_expired: "Sono stati richiesti molti codici. Attendere un momento.",
            authenticator_request_failed:
              "Il telefono non ha confermato. Attendere un nuovo codice o scegliere un altro metodo.",
          },
        },
      },
    },
    login_sms: {
      title: "Inserire il codice dell’SMS",
      sentence: "È il secondo passaggio dell’accesso. Lo abbiamo inviato al numero di telefono dell’account.",
    },
    mfa_method_chooser: {
      title: "Aggiungere un secondo passaggio",
      sentence: "Così una password rubata da sola non basta per entrare. Che cosa desidera usare?",
    },
    mfa_otp_secret_creation: {
      title: "Configurare l’app di autenticazione",
      sentence:
        "Scansionare l’immagine con l’app, o copiarvi la chiave. Inserire poi il codice che l’app mostra.",
    },
    mfa_security_key_creation: {
      title: "Configurare una chiave di sicurezza",
      sentence: "Un piccolo dispositivo da inserire o avvicinare. Tenerlo a portata di mano.",
      actions: { webauthn_generate_creation_options: { label: "Configura una chiave di sicurezza" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Configurare i codici via SMS",
      sentence: "Inviamo un codice per confermare il numero. In seguito ogni accesso ne richiederà uno.",
      actions: { phone_set: { label: "Continua" } },
    },
    device_trust: {
      title: "È un dispositivo personale?",
      sentence: "Se nessun altro lo usa, qui possiamo omettere il secondo passaggio per un certo tempo.",
    },
    webauthn_credential_verification: {
      title: "Creare la passkey",
      sentence: "Il browser chiede dove salvarla. Seguire le sue indicazioni per completare.",
      variants: {
        security_key: {
          title: "Configurare la chiave di sicurezza",
          sentence: "Inserirla o avvicinarla, quindi seguire le indicazioni del browser.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "Accesso effettuato",
      sentence: "Ora è possibile chiudere questa pagina.",
    },
    error: {
      title: "Qualcosa non ha funzionato",
      variants: { signed_out: { title: "È necessario accedere" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "Continua" },
    continue_with_login_identifier: { label: "Continua" },
    register_login_identifier: { label: "Continua" },
    webauthn_generate_request_options: {
      label: "Accedi con una passkey",
      hint: "Impronta digitale, volto, blocco schermo o chiave di sicurezza",
    },
    webauthn_generate_creation_options: { label: "Crea una passkey" },
    remember_me: { label: "Mantieni l’accesso" },
    continue_to_password_login: {
      label: "Inserisci la password",
      hint: "Quella impostata per questo account",
    },
    continue_to_passcode_confirmation: {
      label: "Ricevi un codice via email",
      hint: "Valido per alcuni minuti",
    },
    continue_to_phone_confirmation: { label: "Ricevi un codice via SMS", hint: "Valido per alcuni minuti" },
    continue_to_passcode_confirmation_recovery: { label: "Password dimenticata?" },
    continue_to_passkey_registration: {
      label: "Con una passkey",
      hint: "Impronta digitale, volto o blocco schermo; niente da ricordare",
    },
    continue_to_password_registration: {
      label: "Con una password",
      hint: "Funziona su qualsiasi dispositivo",
    },
    password_login: { label: "Accedi" },
    password_recovery: { label: "Salva la nuova password" },
    register_password: { label: "Salva la password" },
    verify_passcode: { label: "Conferma" },
    resend_passcode: {
      label: "Invia un nuovo codice",
      waiting: "Nuovo codice tra {time}",
      done: "Un nuovo codice è in arrivo. Quello precedente non è più valido.",
    },
    email_address_set: { label: "Continua" },
    username_set: { label: "Continua" },
    skip: { label: "Non ora" },
    back: { label: "Indietro" },
    thirdparty_oauth: { label: "Continua con" },
    exchange_token: { label: "Continua" },
    otp_code_validate: { label: "Conferma" },
    otp_code_verify: { label: "Conferma" },
    recovery_code_validate: {
      label: "Usa un codice di recupero",
      hint: "Uno dei codici salvati durante la configurazione del secondo passaggio. Ognuno vale una sola volta.",
      submit: "Usa questo codice",
    },
    continue_to_login_otp: { label: "Usa invece un codice dell’app" },
    continue_to_login_security_key: { label: "Usa invece una chiave di sicurezza" },
    continue_to_login_method_chooser: { label: "Altri modi per accedere" },
    continue_to_login_authenticator: { label: "Conferma invece con il telefono" },
    authenticator_verify: { label: "Ho confermato" },
    continue_to_otp_secret_creation: {
      label: "Un’app di autenticazione",
      hint: "Mostra un nuovo codice ogni trenta secondi, sul telefono",
    },
    continue_to_security_key_creation: {
      label: "Una chiave di sicurezza",
      hint: "Un piccolo dispositivo da inserire o avvicinare",
    },
    continue_to_phone_creation: {
      label: "Codici via SMS",
      hint: "Al numero di telefono; un’app è più sicura",
    },
    consent_allow: { label: "Consenti" },
    consent_deny: { label: "Non consentire" },
    device_code_verify: { label: "Continua" },
    trust_device: { label: "Sì, considera attendibile questo dispositivo" },
    phone_set: {
      label: "Imposta",
      submit: "Continua",
      done: "Il numero di telefono è stato impostato.",
    },
    username_create: {
      label: "Scegli un nome utente",
      submit: "Salva",
      done: "Il nome utente è stato impostato.",
    },
  },
  inputs: {
    user_code: {
      label: "Codice",
      errors: { value_invalid_error: "Questo codice è sbagliato, è scaduto o è già stato usato." },
    },
    identifier: { label: "Email o nome utente" },
    email: {
      label: "Email",
      errors: { value_invalid_error: "Non sembra un indirizzo email. C’è un errore di battitura?" },
    },
    username: { label: "Nome utente" },
    phone: {
      label: "Numero di telefono",
      hint: "Con il prefisso del Paese, per esempio +39 312 345 6789",
      errors: { value_invalid_error: "Non sembra un numero di telefono. Inizia con il prefisso del Paese?" },
    },
    password: {
      label: "Password",
      errors: { value_invalid_error: "La password non corrisponde. Riprovare." },
    },
    new_password: {
      label: "Nuova password",
      hint: "Almeno {min} caratteri. Alcune parole di seguito vanno bene.",
      errors: {
        value_invalid_error: "Questa password è troppo comune per essere sicura. Sceglierne un’altra.",
      },
    },
    code: { label: "Codice", errors: { value_too_short_error: "Inserire il codice intero." } },
    remember_me: { label: "Mantieni l’accesso" },
    provider: { label: "Continua con" },
    otp_code: {
      label: "Codice",
      errors: {
        value_too_short_error: "Il codice ha sei cifre.",
        passcode_invalid: "Il codice non corrisponde. Controllare di nuovo l’app.",
      },
    },
    recovery_code: { label: "Codice di recupero" },
  },
  errors: {
    form_data_invalid_error: "Controllare i dati inseriti.",
    value_missing_error: "Compilare questo campo.",
    value_invalid_error: "Il valore non è valido. Controllarlo.",
    value_too_short_error: "Usare almeno {min} caratteri.",
    value_too_long_error: "Usare al massimo {max} caratteri.",
    email_already_exists: "Esiste già un account con questo indirizzo email.",
    username_already_exists: "Questo nome utente è già in uso. Sceglierne un altro.",
    unknown_email_error: "Non conosciamo alcun account con questo indirizzo email.",
    unknown_username_error: "Non conosciamo alcun account con questo nome utente.",
    phone_number_already_exists: "Esiste già un account con questo numero di telefono.",
    phone_number_not_allowed:
      "Non è possibile inviare codici a questo numero. Usare il numero di un cellulare di un Paese servito qui.",
    unknown_phone_number_error: "Non conosciamo alcun account con questo numero di telefono.",
    invalid_username_error: "Un nome utente contiene solo lettere, cifre e trattini bassi.",
    passcode_invalid: "Non è il codice che abbiamo inviato, oppure è scaduto. Controllarlo.",
    passcode_max_attempts_reached: "Troppi tentativi. Richiedere un nuovo codice.",
    passkey_invalid: "Impossibile accettare questa passkey. Riprovare o accedere in un altro modo.",
    webauthn_credential_invalid_mfa_only:
      "Questa chiave di sicurezza vale solo come secondo passaggio. Accedere prima in un altro modo.",
    operation_not_permitted_error:
      "Questo passaggio non è più aperto. Forse è stato completato in un’altra finestra.",
    flow_discontinuity_error: "Da qui non è possibile continuare. Ricominciare da capo.",
    flow_expired_error: "Dopo un periodo di inattività abbiamo chiuso questa pagina per sicurezza.",
    rate_limit_exceeded: "Un po’ troppo in fretta. Attendere un momento e riprovare.",
    temporarily_unavailable: "Al momento non ha funzionato. Nulla è andato perso: riprovare tra poco.",
    technical_error: "Si è verificato un errore da parte nostra. Non dipende da Lei. Riprovare.",
    unauthorized: "L’account è visibile solo al titolare. Accedere per vederlo.",
    forbidden: "Non è disponibile qui.",
    not_found: "L’elemento non esiste più. Forse è stato rimosso in un’altra finestra.",
    platform_authenticator_required:
      "L’account richiede un secondo passaggio che questo dispositivo non supporta. Usare un altro dispositivo.",
    user_conflict:
      "Esiste già un account con questo indirizzo email. Accedere prima a quello, poi collegare l’altro.",
    account_blocked: "Questo account è bloccato. Rivolgersi al servizio a cui appartiene.",
    signup_disabled: "Al momento non è possibile creare nuovi account.",
    third_party_access_denied: "L’accesso è stato annullato o negato dall’altro sito. È possibile riprovare.",
    identity_not_linked: "Non è l’account collegato qui. Usare quello collegato.",
    identity_already_linked: "Questo account è già collegato a quello di un’altra persona.",
    otp_code_invalid: "Il codice non corrisponde. Controllare di nuovo l’app.",
    otp_code_already_used: "Questo codice è già stato usato. Attendere il prossimo.",
    recovery_code_invalid: "Non è uno dei codici di recupero, oppure è già stato usato.",
    authenticator_request_pending:
      "Il telefono non ha ancora confermato. Scansionare il codice e confermare sul telefono.",
    authenticator_request_failed:
      "Il telefono non ha confermato. Scansionare il nuovo codice per riprovare, o scegliere un altro metodo.",
    authenticator_request_expired: "Il codice era scaduto. Scansionare quello nuovo.",
    invalid_metadata_error: "Deve essere un oggetto JSON di al massimo 3000 caratteri.",
    webauthn_credential_already_exists: "Su questo dispositivo esiste già una passkey per questo account.",
    passkey_cancelled: "La passkey non è stata usata. Riprovare o scegliere un altro metodo.",
    passkey_failed: "Il browser non ha potuto usare una passkey. Scegliere un altro metodo.",
    connection_lost: "La connessione si è interrotta. Nuovo tentativo…",
    connection_missing: "Il servizio non è raggiungibile. Controllare la connessione.",
    origin_refused:
      "Questa pagina non può mostrare l’accesso: il servizio non conosce il suo indirizzo. Chi la gestisce può risolvere.",
    connection_back: "La connessione è ripristinata. Ripetere l’ultimo passaggio.",
    cookies_blocked:
      "Il browser non conserva cookie per questa pagina, e per accedere ne serve uno. Consentire i cookie, poi ricaricare la pagina.",
    page_out_of_date: "L’operazione è proseguita altrove: abbiamo aggiornato questa pagina.",
    proved_again: "Grazie. Ora è possibile effettuare la modifica.",
    page_renewed: "Dopo un periodo di inattività abbiamo ricominciato da capo.",
    not_json: "Non è JSON valido.",
    third_party_failed: "L’accesso sull’altro sito non è riuscito. Riprovare o scegliere un altro metodo.",
    multiple_accounts: "L’indirizzo email dell’altro account qui appartiene a un’altra persona.",
    unverified_email: "L’altro sito non ha confermato l’indirizzo email. Confermarlo prima lì.",
    email_maxnum: "L’account ha raggiunto il numero massimo di indirizzi email.",
  },
  links: { terms: "Termini di servizio", privacy: "Informativa sulla privacy", help: "Aiuto" },
  consent: { terms: "Registrandoti accetti: {link}.", privacy: "Come usiamo i tuoi dati: {link}." },
  page: {
    ...messages,
    account: "Account",
    useAnother: "Usa un altro account",
    supportNumber: "Numero di assistenza",
    signInInstead: "Accedi con questo indirizzo",
    waitingForBrowser: "In attesa del browser…",
    nothingHappens: "Non succede nulla? Riprovare, oppure tornare indietro e scegliere un altro modo.",
    optional: "facoltativo",
    or: "oppure",
    showPassword: "Mostra la password",
    hidePassword: "Nascondi la password",
    apply: "Applica",
    choose: "Selezionare",
    startAgain: "Ricomincia",
    tryAgain: "Riprova",
    tryAgainIn: "Riprova tra {time}",
    waitFor: "Sarà possibile riprovare tra {time}.",
    signedInAs: "Accesso effettuato come",
    returning: "Ritorno a {host}…",
    nothingToDo: "Al momento non c’è nulla da fare qui.",
    languages: "Lingua",
    working: "Un momento…",
    secret: "Chiave",
    qrCode: "Codice QR da scansionare con l’app",
    waitingForAuthenticator: "In attesa del telefono. La pagina proseguirà da sola.",
    errorTitle: "Qualcosa non ha funzionato in questa pagina",
    reload: "Ricarica",
    toSignIn: "Vai all’accesso",
    toAccount: "Vai all’account",
    signIn: "Accedi",
    continueAt: "Continua su {host}",
    continueWith: "Continua con {provider}",
    copy: "Copia",
    copied: "Copiato",
    download: "Scarica",
    print: "Stampa",
    recoveryCodes: "I codici di recupero",
    recoveryCodesSentence:
      "In caso di perdita del secondo passaggio, uno di questi codici consente di entrare. Ognuno vale una sola volta. Conservarli in un luogo sicuro: vengono mostrati solo adesso.",
    recoveryCodesFile: "codici di recupero",
    saved: "Li ho salvati",
    confirm: "Confermare?",
    cancel: "Annulla",
  },
};

export const flow = withAccount(signIn, account);
