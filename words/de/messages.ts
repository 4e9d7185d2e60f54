import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "Hier ist keine Seite",
  notFoundSentence: "Vielleicht enthält die Adresse einen Tippfehler, oder die Seite ist umgezogen.",
  tooManyTitle: "Einen Augenblick, bitte",
  tooManySentence:
    "Diese Seite wurde gerade sehr oft geöffnet. Bitte warten Sie {time}, und laden Sie sie dann noch einmal.",
  badReturnTitle: "Dieser Link funktioniert nicht",
  badReturnSentence:
    "Die Anwendung, von der Sie kommen, wollte Sie an eine Adresse weiterschicken lassen, die wir nicht kennen. Deshalb geht es hier nicht weiter. Mit Ihrem Konto ist nichts geschehen. Bitte gehen Sie zur Anwendung zurück; wer sie betreibt, kann das beheben.",
  backTo: "Zurück zu {host}",
  badLinkSentence:
    "In der Adresse fehlt etwas, oder sie gilt nicht mehr. Bitte gehen Sie dorthin zurück, wo Sie den Link gefunden haben, oder fangen Sie neu an.",
  linkTitle: "Fast geschafft",
  linkSentence: "Drücken Sie auf die Schaltfläche, um dort weiterzumachen, wo Sie begonnen haben.",
  linkContinue: "Weiter",
  linkElsewhereSentence:
    "Begonnen haben Sie in einem anderen Browser oder einer anderen App. Drücken Sie auf die Schaltfläche, um Ihren Code zu sehen, und geben Sie ihn dort ein.",
  linkShowCode: "Code anzeigen",
  linkCodeTitle: "Ihr Code",
  linkCodeSentence:
    "Geben Sie ihn in dem Browser oder der App ein, in der Sie begonnen haben. Wenn Sie nichts begonnen haben, schließen Sie diese Seite und geben Sie den Code nicht weiter.",
  linkEndedTitle: "Dieser Link gilt nicht mehr",
  linkEndedSentence:
    "Er wurde schon benutzt, ist abgelaufen oder durch eine neuere Nachricht ersetzt. Wenn Sie ihn noch brauchen, fordern Sie dort einen neuen Code an, wo Sie begonnen haben.",
  signOutTitle: "Abmelden?",
  signOutSentence:
    "Damit endet Ihre Sitzung hier. Anwendungen, die Sie mit dieser Anmeldung geöffnet haben, bitten Sie dann vielleicht um eine neue Anmeldung.",
  signOutButton: "Abmelden",
  actAsTitle: "Als {name} anmelden?",
  actAsSentence:
    "{time} lang sehen Sie dieses Konto wie die Person, der es gehört. Was Sie tun, wird mit Ihrem Namen festgehalten.",
  actAsInstead:
    "Dieser Browser ist hier bereits angemeldet: Er verwendet nur noch die neue Sitzung, und Sie melden sich danach erneut an.",
  actAsButton: "Anmelden",
  actAsGoneTitle: "Dieser Link gilt nicht mehr",
  actAsGoneSentence:
    "Er gilt einmal, eine Minute lang, und in dem Browser, der ihn angefordert hat. Beginnen Sie in der Konsole von vorn.",
  testTitle: "Anmeldung testen?",
  testSentence:
    "Was der Anbieter über Sie mitteilt, wird der Person angezeigt, die diesen Test in der Konsole begonnen hat. Sie werden hier nicht angemeldet. Wenn Sie ihn nicht selbst begonnen haben, schließen Sie diese Seite.",
  testButton: "Weiter",
  signedOutTitle: "Sie sind abgemeldet",
  signedOutSentence: "Sie können diese Seite schließen.",
  signedOutNext: "Als Nächstes werden Sie bei dem Anbieter abgemeldet, mit dem Sie sich angemeldet haben.",
  signedOutOfApplications: "Sie werden auch bei Ihren Anwendungen abgemeldet.",
};
