import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow: "Il browser non conserva nulla per questa parte della pagina. Continua in una finestra a sé.",
  openWindow: "Continua in una finestra",
  waiting: "Continua nella finestra che si è aperta.",
  showWindow: "Mostra la finestra",
  cancel: "Annulla",
  blocked: "Il browser ha bloccato la finestra. Consentila e riprova.",
  covered: "Qualcosa copre questo modulo, perciò il clic è stato ignorato. Chiudi ciò che lo copre.",
  tooSmall:
    "Questo modulo è troppo piccolo per essere usato in sicurezza, perciò il clic è stato ignorato. Ingrandisci la finestra.",
  closeWindow: "Ora puoi chiudere questa finestra.",
  refusedTitle: "Non può essere mostrato qui",
  refusedSentence: "La pagina che mostra questo accesso non è nota al servizio. Segnalalo a chi la gestisce.",
};
