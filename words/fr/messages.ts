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
  linkTitle: "Vous y êtes presque",
  linkSentence: "Appuyez sur le bouton pour continuer là où vous avez commencé.",
  linkContinue: "Continuer",
  linkElsewhereSentence:
    "Vous avez commencé dans un autre navigateur ou une autre application. Appuyez sur le bouton pour voir votre code, puis saisissez-le là-bas.",
  linkShowCode: "Afficher le code",
  linkCodeTitle: "Votre code",
  linkCodeSentence:
    "Saisissez-le dans le navigateur ou l’application où vous avez commencé. Si vous n’avez rien commencé, fermez cette page et ne transmettez pas le code.",
  linkEndedTitle: "Ce lien n’est plus valable",
  linkEndedSentence:
    "Il a été utilisé, a expiré ou a été remplacé par un message plus récent. Si vous en avez encore besoin, demandez un nouveau code là où vous avez commencé.",
  signOutTitle: "Se déconnecter ?",
  signOutSentence:
    "Votre session se terminera ici. Les applications ouvertes avec cette connexion peuvent vous demander de vous connecter à nouveau.",
  signOutButton: "Se déconnecter",
  actAsTitle: "Se connecter en tant que {name} ?",
  actAsSentence:
    "Pendant {time}, vous voyez ce compte comme son titulaire. Ce que vous faites est enregistré avec votre nom.",
  actAsInstead:
    "Ce navigateur est déjà connecté ici : il n’utilise plus que la nouvelle session, et vous vous reconnecterez ensuite.",
  actAsButton: "Se connecter",
  actAsGoneTitle: "Ce lien n’est plus valable",
  actAsGoneSentence:
    "Il fonctionne une seule fois, pendant une minute, dans le navigateur qui l’a demandé. Recommencez dans la console.",
  testTitle: "Tester la connexion ?",
  testSentence:
    "Ce que le fournisseur indique à votre sujet est montré à la personne qui a commencé ce test dans la console. Vous n’êtes pas connecté ici. Si vous ne l’avez pas commencé vous-même, fermez cette page.",
  testButton: "Continuer",
  signedOutTitle: "Vous n’êtes plus en session",
  signedOutSentence: "Vous pouvez fermer cette page.",
  signedOutNext: "Ensuite, la session chez le fournisseur qui a servi à la connexion se termine aussi.",
  signedOutOfApplications: "La session se termine aussi dans vos applications.",
};
