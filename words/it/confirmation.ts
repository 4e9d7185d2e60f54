import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "È d’accordo?",
  sentence: "{application} chiede il consenso. La passkey firma esattamente ciò che si legge qui.",
  agreement: "Oggetto del consenso",
  members: { amount: "Importo", to: "A", reference: "Riferimento", items: "Articoli" },
  rest: "Ne fa parte anche:",
  confirm: "Conferma con la passkey",
  decline: "Rifiuta",
  returning: "Poi si torna a {host}.",
  exact: "Mostra il testo esatto",
  exactSentence: "Ecco ciò che viene firmato, carattere per carattere: il riferimento e i dati.",
  hides: "Il testo contiene caratteri invisibili. Li abbiamo segnalati. In caso di dubbio, rifiutare.",
  unseen: "carattere {code}, invisibile",
  yes: "sì",
  no: "no",
  nothing: "niente",
  empty: "vuoto",
  noScript: "Le passkey richiedono JavaScript. Attivarlo per questa pagina, poi ricaricarla.",
  redirecting: "Ritorno a {host}.",
  continueAt: "Continua su {host}",
  ends: {
    confirmed: { title: "Grazie, confermato", sentence: "Ora è possibile chiudere questa pagina." },
    declined: {
      title: "Richiesta rifiutata",
      sentence: "Non è stato firmato nulla. Ora è possibile chiudere questa pagina.",
    },
    expired: {
      title: "È passato un po’ troppo tempo",
      sentence:
        "Per sicurezza la pagina è stata chiusa e non è stato firmato nulla. Ricominciare dal punto di partenza.",
    },
    answered: {
      title: "È già stata data una risposta",
      sentence: "Qui non c’è altro da fare. Ora è possibile chiudere questa pagina.",
    },
    unknown: {
      title: "Questa pagina non è più aperta",
      sentence: "Forse è già stata data una risposta, oppure è scaduta. Ricominciare dal punto di partenza.",
    },
  },
  errors: {
    cancelled: "La passkey non è stata usata, quindi non è stato firmato nulla. Riprovare o rifiutare.",
    failed: "Il browser non ha potuto usare una passkey. Non è stato firmato nulla.",
    unsupported:
      "Questo browser non supporta le passkey. Aprire questa pagina su un altro dispositivo o rifiutare.",
    refused: "Impossibile accettare questa passkey. Non è stato firmato nulla. Riprovare.",
    slow: "Un po’ troppo in fretta. Attendere un momento e riprovare.",
    offline: "Il servizio non è raggiungibile. Controllare la connessione e riprovare.",
    technical: "Si è verificato un errore da parte nostra. Non dipende da Lei. Riprovare.",
  },
};
