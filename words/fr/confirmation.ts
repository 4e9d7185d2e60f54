import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "Êtes-vous d’accord ?",
  sentence: "{application} demande votre accord. Votre clé d’accès signe exactement ce que vous lisez ici.",
  agreement: "Ce que vous acceptez",
  members: { amount: "Montant", to: "À", reference: "Référence", items: "Articles" },
  rest: "En font aussi partie :",
  confirm: "Confirmer avec la clé d’accès",
  decline: "Refuser",
  returning: "Vous reviendrez ensuite sur {host}.",
  exact: "Afficher le texte exact",
  exactSentence: "Voici ce qui est signé, caractère par caractère : la référence et les données.",
  hides: "Ce texte contient des caractères invisibles. Nous les avons signalés. En cas de doute, refusez.",
  unseen: "caractère {code}, invisible",
  yes: "oui",
  no: "non",
  nothing: "rien",
  empty: "vide",
  noScript: "Les clés d’accès nécessitent JavaScript. Activez-le pour cette page, puis rechargez-la.",
  redirecting: "Retour vers {host}.",
  continueAt: "Continuer vers {host}",
  ends: {
    confirmed: { title: "Merci, c’est confirmé", sentence: "Vous pouvez fermer cette page." },
    declined: {
      title: "Vous avez refusé",
      sentence: "Rien n’a été signé. Vous pouvez fermer cette page.",
    },
    expired: {
      title: "Cela a pris un peu trop de temps",
      sentence:
        "Pour votre sécurité, la page a été fermée et rien n’a été signé. Veuillez recommencer là d’où vous venez.",
    },
    answered: {
      title: "Une réponse a déjà été donnée",
      sentence: "Il n’y a plus rien à faire ici. Vous pouvez fermer cette page.",
    },
    unknown: {
      title: "Cette page n’est plus ouverte",
      sentence:
        "Une réponse a peut-être été donnée, ou elle a expiré. Veuillez recommencer là d’où vous venez.",
    },
  },
  errors: {
    cancelled: "La clé d’accès n’a pas été utilisée ; rien n’a été signé. Vous pouvez réessayer, ou refuser.",
    failed: "Votre navigateur n’a pas pu utiliser de clé d’accès ici. Rien n’a été signé.",
    unsupported:
      "Ce navigateur ne prend pas en charge les clés d’accès. Ouvrez cette page sur un autre appareil, ou refusez.",
    refused: "Nous n’avons pas pu accepter cette clé d’accès. Rien n’a été signé. Veuillez réessayer.",
    slow: "C’était un peu rapide. Patientez un instant, puis réessayez.",
    offline: "Le service est injoignable. Vérifiez votre connexion, puis réessayez.",
    technical: "Une erreur s’est produite de notre côté. Vous n’y êtes pour rien. Veuillez réessayer.",
  },
};
