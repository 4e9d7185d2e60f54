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
  linkTitle: "Ci siamo quasi",
  linkSentence: "Premere il pulsante per continuare da dove si è iniziato.",
  linkContinue: "Continua",
  linkElsewhereSentence:
    "L’operazione è iniziata in un altro browser o in un’altra app. Premere il pulsante per vedere il codice e inserirlo lì.",
  linkShowCode: "Mostra il codice",
  linkCodeTitle: "Il codice",
  linkCodeSentence:
    "Inserirlo nel browser o nell’app in cui si è iniziato. Se non si è iniziato nulla, chiudere questa pagina e non comunicare il codice a nessuno.",
  linkEndedTitle: "Questo link non è più valido",
  linkEndedSentence:
    "È stato usato, è scaduto o un messaggio più recente lo ha sostituito. Se serve ancora, richiedere un nuovo codice dove si è iniziato.",
  signOutTitle: "Uscire?",
  signOutSentence:
    "La sessione terminerà qui. Le applicazioni aperte con questo accesso potrebbero chiedere di accedere di nuovo.",
  signOutButton: "Esci",
  actAsTitle: "Accedere come {name}?",
  actAsSentence:
    "Per {time} vede questo account come il suo titolare. Ciò che fa viene registrato con il Suo nome.",
  actAsInstead:
    "Questo browser ha già effettuato l’accesso qui: userà solo la nuova sessione, e dopo dovrà accedere di nuovo.",
  actAsButton: "Accedi",
  actAsGoneTitle: "Questo link non è più valido",
  actAsGoneSentence:
    "Funziona una volta, per un minuto, nel browser che lo ha richiesto. Ricominci nella console.",
  testTitle: "Provare l’accesso?",
  testSentence:
    "Ciò che il provider comunica su di Lei viene mostrato alla persona che ha avviato questo test nella console. Qui non viene effettuato alcun accesso. Se non l’ha avviato Lei, chiuda questa pagina.",
  testButton: "Continua",
  signedOutTitle: "La sessione è terminata",
  signedOutSentence: "È possibile chiudere questa pagina.",
  signedOutNext: "Ora termina anche la sessione presso il provider usato per l’accesso.",
  signedOutOfApplications: "Ora termina anche la sessione nelle applicazioni usate.",
};
