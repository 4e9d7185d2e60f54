import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} est votre code de connexion à {service}",
      heading: "Votre code de connexion",
      request: "Saisissez ce code pour vous connecter à {service} :",
      ignore:
        "Si vous n’avez pas essayé de vous connecter, vous pouvez ignorer ce message. Personne ne peut se connecter sans ce code.",
    },
    recovery: {
      subject: "{code} est votre code de réinitialisation pour {service}",
      heading: "Définir un nouveau mot de passe",
      request: "Saisissez ce code pour définir un nouveau mot de passe pour {service} :",
      ignore:
        "Si vous n’avez pas demandé de nouveau mot de passe, vous pouvez ignorer ce message. Votre mot de passe reste inchangé.",
    },
    email_verification: {
      subject: "{code} est votre code de confirmation pour {service}",
      heading: "Confirmer votre adresse e-mail",
      request: "Saisissez ce code pour confirmer que cette adresse e-mail est bien la vôtre :",
      ignore: "Si vous n’avez pas indiqué cette adresse à {service}, vous pouvez ignorer ce message.",
    },
    email_login_attempted: {
      subject: "Tentative de connexion à {service}",
      preview: "Aucun compte n’existe avec cette adresse e-mail.",
      heading: "Aucun compte avec cette adresse",
      event:
        "Quelqu’un a essayé de se connecter à {service} avec cette adresse e-mail, mais aucun compte ne lui correspond.",
      advice: "Si c’était vous, vous vous êtes peut-être inscrit avec une autre adresse.",
      ignore: "Si ce n’était pas vous, vous pouvez ignorer ce message. Il ne s’est rien passé.",
    },
    email_registration_attempted: {
      subject: "Vous avez déjà un compte {service}",
      preview: "Quelqu’un a essayé de s’inscrire avec cette adresse e-mail.",
      heading: "Vous avez déjà un compte",
      event:
        "Quelqu’un a essayé de s’inscrire à {service} avec cette adresse e-mail, mais vous avez déjà un compte.",
      advice: "Si c’était vous, connectez-vous plutôt avec cette adresse.",
      ignore: "Si ce n’était pas vous, vous pouvez ignorer ce message. Votre compte n’a pas changé.",
    },
    recovery_offered: {
      subject: "Se reconnecter à {service}",
      preview: "Vous pouvez demander un code et définir un nouveau mot de passe.",
      heading: "Se reconnecter",
      event: "Les responsables de {service} ont été priés de vous aider à vous connecter à votre compte.",
      advice:
        "Rendez-vous sur {host} et saisissez cette adresse e-mail. Vous pourrez y demander un code et, si vous en utilisez un, définir un nouveau mot de passe.",
      ignore:
        "Si vous n’avez pas demandé d’aide, vous pouvez ignorer ce message. Votre compte n’a pas changé.",
    },
    email_create: {
      subject: "Une adresse e-mail a été ajoutée à votre compte {service}",
      heading: "Une nouvelle adresse e-mail",
      event: "L’adresse e-mail {address} a été ajoutée à votre compte {service}.",
    },
    email_delete: {
      subject: "Une adresse e-mail a été supprimée de votre compte {service}",
      heading: "Une adresse e-mail a été supprimée",
      event: "L’adresse e-mail {address} a été supprimée de votre compte {service}.",
    },
    primary_email_update: {
      subject: "L’adresse e-mail principale de votre compte {service} a changé",
      heading: "Une nouvelle adresse e-mail principale",
      event:
        "L’adresse e-mail principale de votre compte {service} est désormais {address}. Les messages concernant votre compte y sont envoyés.",
    },
    password_update: {
      subject: "Le mot de passe de votre compte {service} a changé",
      heading: "Un nouveau mot de passe",
      event: "Un nouveau mot de passe a été défini pour votre compte {service}.",
    },
    password_delete: {
      subject: "Le mot de passe de votre compte {service} a été supprimé",
      heading: "Votre mot de passe a été supprimé",
      event: "Le mot de passe de votre compte {service} a été supprimé.",
    },
    passkey_create: {
      subject: "Une clé d’accès a été ajoutée à votre compte {service}",
      heading: "Une nouvelle clé d’accès",
      event:
        "Une clé d’accès a été ajoutée à votre compte {service}. Toute personne qui la possède peut se connecter.",
    },
    passkey_delete: {
      subject: "Une clé d’accès a été supprimée de votre compte {service}",
      heading: "Une clé d’accès a été supprimée",
      event:
        "Une clé d’accès a été supprimée de votre compte {service}. Elle ne permet plus de s’y connecter.",
    },
    mfa_create: {
      subject: "La deuxième étape de la connexion à {service} a changé",
      heading: "Votre deuxième étape a changé",
      event:
        "{factor, select, totp {Une application d’authentification a été configurée} security_key {Une clé de sécurité a été configurée} authenticator {Un téléphone a été configuré} recovery_codes {De nouveaux codes de récupération ont été créés} other {Un second facteur a été configuré}} pour la deuxième étape de la connexion à votre compte {service}.",
    },
    identity_create: {
      subject: "Un autre compte a été associé à {service}",
      heading: "Un autre compte a été associé",
      event:
        "Votre compte {service} a été associé à un compte chez un autre fournisseur, qui vous permet désormais de vous connecter.",
    },
    recovery_code_use: {
      subject: "Un code de récupération a été utilisé sur {service}",
      heading: "Un code de récupération a été utilisé",
      event:
        "Quelqu’un s’est connecté à votre compte {service} avec l’un de vos codes de récupération, à la place de la deuxième étape. Ce code n’est plus valable.",
    },
    mfa_delete: {
      subject: "Une deuxième étape de la connexion à {service} a été supprimée",
      heading: "Une deuxième étape a été supprimée",
      event:
        "{factor, select, totp {L’application d’authentification ne peut plus servir} security_key {Une clé de sécurité ne peut plus servir} authenticator {Un téléphone ne peut plus servir} recovery_codes {Les codes de récupération ne peuvent plus servir} other {Un second facteur ne peut plus servir}} de deuxième étape pour la connexion à votre compte {service}.",
    },
    phone_create: {
      subject: "Un numéro de téléphone a été ajouté à votre compte {service}",
      heading: "Un nouveau numéro de téléphone",
      event:
        "Un numéro de téléphone a été défini pour votre compte {service}. Des codes peuvent y être envoyés.",
    },
    phone_delete: {
      subject: "Le numéro de téléphone a été supprimé de votre compte {service}",
      heading: "Votre numéro de téléphone a été supprimé",
      event:
        "Le numéro de téléphone a été supprimé de votre compte {service}. Aucun code n’y est plus envoyé.",
    },
    account_delete: {
      subject: "Votre compte {service} a été supprimé",
      heading: "Votre compte a été supprimé",
      event: "Votre compte {service} et tout ce qu’il contenait ont été supprimés.",
      unexpected: "Si ce n’était pas vous, prévenez les responsables de {service}.",
    },
    impersonation: {
      subject: "Les responsables de {service} se sont connectés à votre compte",
      heading: "Une connexion à votre place",
      event:
        "Les responsables de {service} se sont connectés à votre compte le {time} pour voir ce que vous voyez. Ils ne peuvent pas changer votre façon de vous connecter. Cela se termine au plus tard après {minutes, plural, one {# minute} other {# minutes}}. Le motif indiqué : {reason}",
      unexpected:
        "Si vous n’avez pas demandé d’aide, dites-le aux responsables de {service}. Vous pouvez mettre fin à la session sur {host}, parmi vos sessions.",
    },
    new_browser: {
      subject: "Nouvelle connexion à votre compte {service}",
      heading: "Connexion depuis un nouveau navigateur",
      event:
        "Une connexion à votre compte {service} a eu lieu le {time}{browser, select, Unknown {} other { avec {browser}}}{place, select, none {} other {, près de {place}}}. Ce navigateur n’avait pas encore été utilisé pour ce compte.",
      unexpected:
        "Si ce n’était pas vous, quelqu’un d’autre a peut-être accès à votre compte. Connectez-vous sur {host}, mettez fin aux autres sessions et définissez un nouveau mot de passe. Si vous ne pouvez plus vous connecter, prévenez les responsables de {service}.",
    },
  },
  unexpected:
    "Si ce n’était pas vous, quelqu’un d’autre a peut-être accès à votre compte. Connectez-vous sur {host}, annulez la modification, définissez un nouveau mot de passe et mettez fin aux autres sessions. Si vous ne pouvez plus vous connecter, prévenez les responsables de {service}.",
  expected: "Si c’était vous, vous n’avez rien à faire.",
  validity:
    "Il est valable {minutes, plural, one {# minute} other {# minutes}} et ne peut servir qu’une fois.",
  link: "Ou ouvrez ce lien et appuyez sur le bouton de la page :",
  linkLabel: "Continuer sans saisir le code",
  secrecy: "Ne le communiquez à personne : {service} ne vous le demandera jamais.",
  automatic: "{service} ({host}) a envoyé ce message automatiquement. Les réponses ne sont pas lues.",
};
