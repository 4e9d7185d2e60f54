import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "Qui non c’è nessuna pagina",
  notFoundSentence: "L’indirizzo potrebbe contenere un errore, o la pagina è stata spostata.",
  tooManyTitle: "Un momento, per favore",
  tooManySentence: "Questa pagina è stata aperta molto spesso. Attendere {time}, poi ricaricarla.",
  badReturnTitle: "Questo link non funziona",
  badReturnSentence:
    "L’applicazione da cui arrivi ci ha chiesto di mandarti a un indirizzo che non conosciamo, quindi ci siamo fermati. Al tuo account non è successo nulla. Torna all’applicazione: chi la gestisce può risolvere.",
  backTo: "Torna a {host}",
  badLinkSentence:
    "Nell’indirizzo manca qualcosa, o non è più valido. Tornare indietro, o ricominciare da capo.",
};
