import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "Hier is geen pagina",
  notFoundSentence: "Misschien zit er een typefout in het adres, of is de pagina verplaatst.",
  tooManyTitle: "Een moment geduld",
  tooManySentence: "Deze pagina is net heel vaak geopend. Wacht {time} en laad hem dan opnieuw.",
  badReturnTitle: "Deze link werkt niet",
  badReturnSentence:
    "De toepassing waar u vandaan komt, vroeg ons u door te sturen naar een adres dat wij niet kennen. Daarom zijn we gestopt. Met uw account is niets gebeurd. Ga terug naar de toepassing; de makers kunnen dit verhelpen.",
  backTo: "Terug naar {host}",
  badLinkSentence:
    "Er ontbreekt iets in het adres, of het is niet meer geldig. Ga terug naar waar je vandaan kwam, of begin opnieuw.",
  linkTitle: "Bijna klaar",
  linkSentence: "Druk op de knop om verder te gaan waar je begonnen bent.",
  linkContinue: "Doorgaan",
  linkElsewhereSentence:
    "Je bent in een andere browser of app begonnen. Druk op de knop om je code te zien en voer die daar in.",
  linkShowCode: "Code tonen",
  linkCodeTitle: "Je code",
  linkCodeSentence:
    "Voer hem in de browser of app in waarin je begonnen bent. Ben je niets begonnen? Sluit dan deze pagina en geef de code niet door.",
  linkEndedTitle: "Deze link is niet meer geldig",
  linkEndedSentence:
    "Hij is gebruikt of verlopen, of vervangen door een nieuwer bericht. Heb je hem nog nodig, vraag dan een nieuwe code aan waar je begonnen bent.",
  signOutTitle: "Uitloggen?",
  signOutSentence:
    "Hiermee eindigt je sessie hier. Toepassingen die je hiermee hebt geopend, kunnen je vragen om opnieuw in te loggen.",
  signOutButton: "Uitloggen",
  actAsTitle: "Inloggen als {name}?",
  actAsSentence:
    "Gedurende {time} ziet u dit account zoals de eigenaar. Wat u doet, wordt met uw naam vastgelegd.",
  actAsInstead:
    "Deze browser is hier al ingelogd: hij gebruikt alleen nog de nieuwe sessie, en daarna logt u opnieuw in.",
  actAsButton: "Inloggen",
  actAsGoneTitle: "Deze link is niet meer geldig",
  actAsGoneSentence:
    "Hij werkt één keer, een minuut lang, in de browser die erom vroeg. Begin opnieuw in de console.",
  testTitle: "De aanmelding testen?",
  testSentence:
    "Wat de aanbieder over u meedeelt, wordt getoond aan degene die deze test in de console is begonnen. U wordt hier niet ingelogd. Bent u er niet zelf mee begonnen, sluit dan deze pagina.",
  testButton: "Doorgaan",
  signedOutTitle: "Je bent uitgelogd",
  signedOutSentence: "Je kunt deze pagina sluiten.",
  signedOutNext: "Daarna word je ook uitgelogd bij de aanbieder waarmee je bent ingelogd.",
  signedOutOfApplications: "Je wordt ook uitgelogd bij je applicaties.",
};
