import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow:
    "Votre navigateur ne mémorise rien pour cette partie de la page. Continuez dans une fenêtre à part.",
  openWindow: "Continuer dans une fenêtre",
  waiting: "Veuillez continuer dans la fenêtre qui s’est ouverte.",
  showWindow: "Afficher la fenêtre",
  cancel: "Annuler",
  blocked: "Votre navigateur a bloqué la fenêtre. Veuillez l’autoriser, puis réessayer.",
  covered:
    "Quelque chose recouvre ce formulaire, votre clic a donc été ignoré. Veuillez fermer ce qui le recouvre.",
  tooSmall:
    "Ce formulaire est trop petit pour être utilisé en toute sécurité, votre clic a donc été ignoré. Veuillez agrandir la fenêtre.",
  closeWindow: "Vous pouvez maintenant fermer cette fenêtre.",
  refusedTitle: "Ceci ne peut pas être affiché ici",
  refusedSentence:
    "La page qui affiche cette connexion n’est pas connue du service. Veuillez en informer ses responsables.",
};
