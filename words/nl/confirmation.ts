import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "Ga je hiermee akkoord?",
  sentence: "{application} vraagt om je akkoord. Je passkey ondertekent precies wat je hier leest.",
  agreement: "Waar je mee akkoord gaat",
  members: { amount: "Bedrag", to: "Aan", reference: "Referentie", items: "Artikelen" },
  rest: "Hoort er ook bij:",
  confirm: "Bevestigen met passkey",
  decline: "Weigeren",
  returning: "Daarna ga je terug naar {host}.",
  exact: "Exacte tekst tonen",
  exactSentence: "Dit wordt ondertekend, teken voor teken: de referentie en de gegevens.",
  hides: "Hier staan tekens die je niet kunt zien. We hebben ze gemarkeerd. Weiger bij twijfel.",
  unseen: "teken {code}, dat je niet kunt zien",
  yes: "ja",
  no: "nee",
  nothing: "niets",
  empty: "leeg",
  noScript: "Passkeys hebben JavaScript nodig. Zet het aan voor deze pagina en laad die dan opnieuw.",
  redirecting: "Je gaat terug naar {host}.",
  continueAt: "Verder naar {host}",
  ends: {
    confirmed: { title: "Bedankt, het is bevestigd", sentence: "Je kunt deze pagina nu sluiten." },
    declined: {
      title: "Je hebt geweigerd",
      sentence: "Er is niets ondertekend. Je kunt deze pagina nu sluiten.",
    },
    expired: {
      title: "Dit duurde iets te lang",
      sentence:
        "Voor je veiligheid is de pagina gesloten en is er niets ondertekend. Begin opnieuw waar je vandaan kwam.",
    },
    answered: {
      title: "Dit is al beantwoord",
      sentence: "Er is hier niets meer te doen. Je kunt deze pagina nu sluiten.",
    },
    unknown: {
      title: "Deze pagina is niet meer open",
      sentence: "Misschien is ze beantwoord of verlopen. Begin opnieuw waar je vandaan kwam.",
    },
  },
  errors: {
    cancelled: "De passkey is niet gebruikt, dus er is niets ondertekend. Probeer het opnieuw of weiger.",
    failed: "Je browser kon hier geen passkey gebruiken. Er is niets ondertekend.",
    unsupported: "Deze browser heeft geen passkeys. Open deze pagina op een ander apparaat, of weiger.",
    refused: "We konden deze passkey niet accepteren. Er is niets ondertekend. Probeer het opnieuw.",
    slow: "Dat ging iets te snel. Wacht een moment en probeer het opnieuw.",
    offline: "We kunnen de dienst niet bereiken. Controleer je verbinding en probeer het opnieuw.",
    technical: "Er ging iets mis aan onze kant. Het ligt niet aan jou. Probeer het opnieuw.",
  },
};
