import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} è il codice di accesso a {service}",
      heading: "Il codice di accesso",
      request: "Inserire questo codice per accedere a {service}:",
      ignore:
        "Se non ha tentato di accedere, può ignorare questo messaggio. Senza il codice nessuno può accedere.",
    },
    recovery: {
      subject: "{code} è il codice per reimpostare la password di {service}",
      heading: "Impostare una nuova password",
      request: "Inserire questo codice per impostare una nuova password per {service}:",
      ignore:
        "Se non ha richiesto una nuova password, può ignorare questo messaggio. La password resta invariata.",
    },
    email_verification: {
      subject: "{code} è il codice di conferma per {service}",
      heading: "Confermare l’indirizzo email",
      request: "Inserire questo codice per confermare che questo indirizzo email Le appartiene:",
      ignore: "Se non ha indicato questo indirizzo a {service}, può ignorare questo messaggio.",
    },
    email_login_attempted: {
      subject: "Tentativo di accesso a {service}",
      preview: "Non esiste un account con questo indirizzo email.",
      heading: "Nessun account con questo indirizzo",
      event:
        "Qualcuno ha tentato di accedere a {service} con questo indirizzo email, ma non esiste un account corrispondente.",
      advice: "Se è stato Lei, forse la registrazione è avvenuta con un altro indirizzo.",
      ignore: "Se non è stato Lei, può ignorare questo messaggio. Non è successo nulla.",
    },
    email_registration_attempted: {
      subject: "Ha già un account {service}",
      preview: "Qualcuno ha tentato di registrarsi con questo indirizzo email.",
      heading: "Ha già un account",
      event:
        "Qualcuno ha tentato di registrarsi a {service} con questo indirizzo email, ma Lei ha già un account.",
      advice: "Se è stato Lei, acceda invece con questo indirizzo.",
      ignore: "Se non è stato Lei, può ignorare questo messaggio. L’account non è cambiato.",
    },
    recovery_offered: {
      subject: "Accedere di nuovo a {service}",
      preview: "Può richiedere un codice e impostare una nuova password.",
      heading: "Accedere di nuovo",
      event: "Ai responsabili di {service} è stato chiesto di aiutarLa ad accedere al Suo account.",
      advice:
        "Vada su {host} e inserisca questo indirizzo email. Lì può richiedere un codice e, se ne usa una, impostare una nuova password.",
      ignore: "Se non ha chiesto aiuto, può ignorare questo messaggio. L’account non è cambiato.",
    },
    email_create: {
      subject: "Un indirizzo email è stato aggiunto all’account {service}",
      heading: "Un nuovo indirizzo email",
      event: "L’indirizzo email {address} è stato aggiunto al Suo account {service}.",
    },
    email_delete: {
      subject: "Un indirizzo email è stato rimosso dall’account {service}",
      heading: "Un indirizzo email è stato rimosso",
      event: "L’indirizzo email {address} è stato rimosso dal Suo account {service}.",
    },
    primary_email_update: {
      subject: "L’indirizzo email principale dell’account {service} è cambiato",
      heading: "Un nuovo indirizzo email principale",
      event:
        "L’indirizzo email principale del Suo account {service} è ora {address}. I messaggi relativi all’account vengono inviati lì.",
    },
    password_update: {
      subject: "La password dell’account {service} è cambiata",
      heading: "Una nuova password",
      event: "È stata impostata una nuova password per il Suo account {service}.",
    },
    password_delete: {
      subject: "La password dell’account {service} è stata rimossa",
      heading: "La password è stata rimossa",
      event: "La password del Suo account {service} è stata rimossa.",
    },
    passkey_create: {
      subject: "Una passkey è stata aggiunta all’account {service}",
      heading: "Una nuova passkey",
      event:
        "Una passkey è stata aggiunta al Suo account {service}. Chi la possiede può usarla per accedere.",
    },
    passkey_delete: {
      subject: "Una passkey è stata rimossa dall’account {service}",
      heading: "Una passkey è stata rimossa",
      event: "Una passkey è stata rimossa dal Suo account {service}. Non consente più di accedere.",
    },
    mfa_create: {
      subject: "Il secondo passaggio dell’accesso a {service} è cambiato",
      heading: "Il secondo passaggio è cambiato",
      event:
        "{factor, select, totp {Un’app di autenticazione è stata configurata} security_key {Una chiave di sicurezza è stata configurata} authenticator {Un telefono è stato configurato} recovery_codes {Nuovi codici di recupero sono stati configurati} other {Un secondo fattore è stato configurato}} come secondo passaggio dell’accesso al Suo account {service}.",
    },
    identity_create: {
      subject: "Un altro account è stato collegato a {service}",
      heading: "Un altro account è stato collegato",
      event:
        "Il Suo account {service} è stato collegato a un account di un altro fornitore, che da ora consente di accedere.",
    },
    recovery_code_use: {
      subject: "Un codice di recupero è stato usato su {service}",
      heading: "Un codice di recupero è stato usato",
      event:
        "Qualcuno ha effettuato l’accesso al Suo account {service} con uno dei codici di recupero, al posto del secondo passaggio. Quel codice non è più valido.",
    },
    mfa_delete: {
      subject: "Un secondo passaggio dell’accesso a {service} è stato rimosso",
      heading: "Un secondo passaggio è stato rimosso",
      event:
        "{factor, select, totp {L’app di autenticazione non può più essere usata} security_key {Una chiave di sicurezza non può più essere usata} authenticator {Un telefono non può più essere usato} recovery_codes {I codici di recupero non possono più essere usati} other {Un secondo fattore non può più essere usato}} come secondo passaggio dell’accesso al Suo account {service}.",
    },
    phone_create: {
      subject: "Un numero di telefono è stato aggiunto all’account {service}",
      heading: "Un nuovo numero di telefono",
      event:
        "Un numero di telefono è stato impostato per il Suo account {service}. È possibile inviarvi codici.",
    },
    phone_delete: {
      subject: "Il numero di telefono è stato rimosso dall’account {service}",
      heading: "Il numero di telefono è stato rimosso",
      event:
        "Il numero di telefono è stato rimosso dal Suo account {service}. Non vi vengono più inviati codici.",
    },
    account_delete: {
      subject: "Il Suo account {service} è stato eliminato",
      heading: "Il Suo account è stato eliminato",
      event: "Il Suo account {service} è stato eliminato con tutto ciò che conteneva.",
      unexpected: "Se non è stato Lei, avvisi i gestori di {service}.",
    },
    impersonation: {
      subject: "I responsabili di {service} hanno effettuato l’accesso al Suo account",
      heading: "Un accesso al Suo posto",
      event:
        "I responsabili di {service} hanno effettuato l’accesso al Suo account il {time} per vedere ciò che vede Lei. Non possono cambiare il modo in cui accede. Termina al più tardi dopo {minutes, plural, one {# minuto} other {# minuti}}. Il motivo indicato: {reason}",
      unexpected:
        "Se non ha chiesto aiuto, lo dica ai responsabili di {service}. Può terminare la sessione su {host}, tra le Sue sessioni.",
    },
    new_browser: {
      subject: "Nuovo accesso al Suo account {service}",
      heading: "Accesso da un nuovo browser",
      event:
        "È stato effettuato un accesso al Suo account {service} il {time}{browser, select, Unknown {} other { con {browser}}}{place, select, none {} other {, vicino a {place}}}. Questo browser non era mai stato usato per l’account.",
      unexpected:
        "Se non è stato Lei, qualcun altro potrebbe avere accesso all’account. Acceda su {host}, termini le altre sessioni e imposti una nuova password. Se non riesce più ad accedere, avvisi i gestori di {service}.",
    },
  },
  unexpected:
    "Se non è stato Lei, qualcun altro potrebbe avere accesso all’account. Acceda su {host}, annulli la modifica, imposti una nuova password e termini le altre sessioni. Se non riesce più ad accedere, avvisi i gestori di {service}.",
  expected: "Se è stato Lei, non deve fare nulla.",
  validity: "È valido per {minutes, plural, one {# minuto} other {# minuti}} e si può usare una sola volta.",
  link: "Oppure apra questo link e prema il pulsante nella pagina:",
  linkLabel: "Continuare senza inserire il codice",
  secrecy: "Non lo comunichi a nessuno: {service} non glielo chiederà mai.",
  automatic: "{service} ({host}) ha inviato questo messaggio automaticamente. Le risposte non vengono lette.",
};
