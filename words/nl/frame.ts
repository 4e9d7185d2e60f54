import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow: "Je browser onthoudt niets voor dit deel van de pagina. Ga verder in een eigen venster.",
  openWindow: "Verdergaan in een venster",
  waiting: "Ga verder in het venster dat is geopend.",
  showWindow: "Venster tonen",
  cancel: "Annuleren",
  blocked: "Je browser heeft het venster geblokkeerd. Sta het toe en probeer het opnieuw.",
  covered: "Er ligt iets over dit formulier, daarom is je klik genegeerd. Sluit wat eroverheen ligt.",
  tooSmall:
    "Dit formulier is te klein om veilig te gebruiken, daarom is je klik genegeerd. Maak het venster groter.",
  closeWindow: "Je kunt dit venster nu sluiten.",
  refusedTitle: "Dit kan hier niet worden getoond",
  refusedSentence:
    "De pagina die deze aanmelding toont, is niet bekend bij de dienst. Meld het aan wie haar beheert.",
};
