import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "Il n’y a pas de page ici",
  notFoundSentence: "L’adresse est peut-être mal saisie, ou la page a été déplacée.",
  tooManyTitle: "Un instant, s’il vous plaît",
  tooManySentence: "Cette page vient d’être ouverte très souvent. Patientez {time}, puis rechargez-la.",
  badReturnTitle: "Ce lien ne fonctionne pas",
  badReturnSentence:
    "L’application d’où vous venez nous a demandé de vous envoyer à une adresse que nous ne connaissons pas ; nous nous sommes donc arrêtés. Rien n’est arrivé à votre compte. Retournez à l’application : ses responsables peuvent y remédier.",
  backTo: "Retour à {host}",
  badLinkSentence:
    "Il manque quelque chose à son adresse, ou elle n’est plus valable. Revenez en arrière, ou recommencez depuis le début.",
};
