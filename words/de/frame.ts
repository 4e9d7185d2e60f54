import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow:
    "Ihr Browser merkt sich für diesen Teil der Seite nichts. Machen Sie in einem eigenen Fenster weiter.",
  openWindow: "In einem Fenster weitermachen",
  waiting: "Bitte machen Sie in dem Fenster weiter, das sich geöffnet hat.",
  showWindow: "Fenster zeigen",
  cancel: "Abbrechen",
  blocked: "Ihr Browser hat das Fenster blockiert. Bitte lassen Sie es zu und versuchen Sie es noch einmal.",
  covered:
    "Etwas liegt über diesem Formular, deshalb wurde Ihr Klick nicht beachtet. Bitte schließen Sie, was es verdeckt.",
  tooSmall:
    "Dieses Formular ist zu klein, um es sicher zu benutzen, deshalb wurde Ihr Klick nicht beachtet. Bitte vergrößern Sie das Fenster.",
  closeWindow: "Sie können dieses Fenster jetzt schließen.",
  refusedTitle: "Das kann hier nicht gezeigt werden",
  refusedSentence:
    "Die Seite, die diese Anmeldung zeigt, ist dem Dienst nicht bekannt. Bitte sagen Sie es denen, die sie betreiben.",
};
