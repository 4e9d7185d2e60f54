import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "Nous n’avons pas pu accepter cette clé de sécurité. Réessayez, ou utilisez-en une autre.",
  passkey_cancelled: "La clé de sécurité n’a pas été utilisée. Réessayez, ou choisissez une autre méthode.",
  passkey_failed:
    "Votre navigateur n’a pas pu utiliser de clé de sécurité ici. Choisissez une autre méthode.",
  webauthn_credential_already_exists: "Cette clé de sécurité est déjà associée à votre compte.",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "Bienvenue",
      sentence: "Encore une étape et c’est parti.",
    },
    login_init: {
      title: "Se connecter",
      sentence: "Ravis de vous revoir.",
      other: { flow: "registration", question: "Première visite ?", label: "Créer un compte" },
    },
    login_passkey: {
      title: "Utilisez votre clé d’accès",
      sentence:
        "Votre navigateur vous la demande. Confirmez avec votre empreinte digitale, votre visage, le verrouillage de l’écran ou une clé de sécurité.",
      variants: {
        signed_in: {
          title: "Utilisez votre clé d’accès",
          sentence: "Avant une modification importante, confirmez que c’est bien vous.",
        },
        security_key: {
          title: "Utilisez votre clé de sécurité",
          sentence: "Votre navigateur vous la demande. Branchez-la ou approchez-la, puis touchez-la.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "Comment souhaitez-vous vous connecter ?",
      variants: {
        signed_in: {
          title: "Est-ce toujours vous ?",
          sentence: "Avant une modification importante, confirmez que c’est bien vous.",
        },
      },
    },
    login_password: {
      title: "Saisissez votre mot de passe",
      variants: {
        signed_in: {
          title: "Saisissez votre mot de passe",
          sentence: "Avant une modification importante, confirmez que c’est bien vous.",
        },
      },
    },
    login_password_recovery: {
      title: "Choisissez un nouveau mot de passe",
      sentence: "Il remplace l’ancien partout.",
    },
    passcode_confirmation: {
      title: "Consultez vos e-mails",
      sentence: "Nous vous avons envoyé un code à six chiffres. Il est valable {time}.",
      sentenceWithSubject: "Nous avons envoyé un code à six chiffres à {subject}. Il est valable {time}.",
      note: "Rien reçu ? Regardez aussi dans vos courriers indésirables.",
      variants: {
        letters: {
          sentence: "Nous vous avons envoyé un code à six caractères. Il est valable {time}.",
          sentenceWithSubject:
            "Nous avons envoyé un code à six caractères à {subject}. Il est valable {time}.",
        },
      },
    },
    phone_confirmation: {
      title: "Consultez votre téléphone",
      sentence: "Nous vous avons envoyé un code à six chiffres par SMS. Il est valable {time}.",
      sentenceWithSubject:
        "Nous avons envoyé un code à six chiffres par SMS au {subject}. Il est valable {time}.",
    },
    password_creation: {
      title: "Définissez un mot de passe",
      sentence: "Il vous permettra de vous connecter sur tous vos appareils.",
    },
    onboarding_email: {
      title: "Ajoutez votre adresse e-mail",
      sentence: "Pour pouvoir toujours retrouver l’accès à votre compte.",
      variants: {
        no_address: {
          title: "Ajoutez votre adresse e-mail",
          sentence:
            "Le service avec lequel vous vous êtes connecté ne nous a pas communiqué votre adresse e-mail. Elle vous permet de toujours retrouver l’accès à votre compte.",
        },
      },
    },
    onboarding_username: {
      title: "Choisissez un nom d’utilisateur",
      sentence: "Un nom court pour vous connecter.",
    },
    credential_onboarding_chooser: {
      title: "Comment vous connecterez-vous la prochaine fois ?",
      sentence: "Vous pourrez ajouter l’autre méthode plus tard.",
    },
    onboarding_create_passkey: {
      title: "Connectez-vous sans mot de passe",
      sentence:
        "Avec une clé d’accès, votre empreinte digitale, votre visage ou le verrouillage de l’écran suffit. Rien à retenir, et rien à nous voler.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Créez votre clé d’accès",
      sentence: "Votre navigateur vous demande où l’enregistrer. Suivez ses instructions.",
      variants: {
        security_key: {
          title: "Configurez votre clé de sécurité",
          sentence: "Branchez-la ou approchez-la, puis suivez les instructions de votre navigateur.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Créez votre compte",
      sentence: "Cela prend moins d’une minute.",
      other: { flow: "login", question: "Déjà venu ?", label: "J’ai un compte" },
      variants: {
        closed: {
          title: "Pas de nouveaux comptes pour le moment",
          sentence:
            "La création de comptes n’est pas possible ici pour le moment. Si vous en avez déjà un, vous pouvez vous connecter.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "Un instant",
      sentence: "Vous vous connectez sur l’autre site et revenez aussitôt.",
      actions: { exchange_token: { label: "Continuer" } },
      errors: {
        form_data_invalid_error:
          "La connexion sur l’autre site n’a pas abouti. Réessayez, ou choisissez une autre méthode.",
      },
      variants: {
        rejected: {
          title: "Cela n’a pas fonctionné",
          actions: { back: { label: "Autres façons de se connecter" } },
        },
        not_connected: {
          title: "Cela n’a pas fonctionné",
          actions: { back: { label: "Aller à votre compte" } },
        },
      },
    },
    login_otp: {
      title: "Saisissez le code de votre application",
      sentence:
        "Ouvrez votre application d’authentification. Elle affiche un code à six chiffres, renouvelé toutes les trente secondes.",
    },
    login_security_key: {
      title: "Confirmez avec votre clé de sécurité",
      sentence: "C’est la deuxième étape de votre connexion. Gardez la clé à portée de main.",
      actions: {
        webauthn_generate_request_options: { label: "Utiliser votre clé de sécurité" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Confirmez avec votre téléphone",
      sentence:
        "Scannez ce code avec l’application de votre téléphone, puis confirmez-y que c’est bien vous.",
      actions: { continue_to_login_otp: { label: "Saisir plutôt un code à six chiffres" } },
      variants: {
        waits: {
          title: "Confirmez avec votre téléphone",
          sentence: "Vous pourrez obtenir un nouveau code à scanner dans un instant.",
          actions: {
            authenticator_verify: { label: "Afficher un nouveau code", waiting: "Nouveau code dans {time}" },
            continue_to_login_otp: { label: "Saisir plutôt un code à six chiffres" },
          },
          errors: {
            rate_limit_exceeded: "Trop de codes viennent d’être demandés. Patientez un instant.",
            authenticator_request_expired: "Trop de codes viennent d’être demandés. Patientez un instant.",
            authenticator_request_failed:
              "Votre téléphone n’a pas confirmé. Attendez un nouveau code, ou choisissez une autre méthode.",
          },
        },
      },
    },
    login_sms: {
      title: "Saisissez le code reçu par SMS",
      sentence:
        "C’est la deuxième étape de votre connexion. Nous l’avons envoyé au numéro de téléphone de votre compte.",
    },
    mfa_method_chooser: {
      title: "Ajoutez une deuxième étape",
      sentence: "Ainsi, un mot de passe volé ne suffit plus pour entrer. Que souhaitez-vous utiliser ?",
    },
    mfa_otp_secret_creation: {
      title: "Configurez votre application d’authentification",
      sentence:
        "Scannez l’image avec l’application, ou copiez-y la clé. Saisissez ensuite le code qu’elle affiche.",
    },
    mfa_security_key_creation: {
      title: "Configurez une clé de sécurité",
      sentence: "Un petit appareil que l’on branche ou que l’on approche. Gardez-le à portée de main.",
      actions: { webauthn_generate_creation_options: { label: "Configurer une clé de sécurité" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Configurer les codes par SMS",
      sentence:
        "Nous vous envoyons un code pour confirmer le numéro. Ensuite, chaque connexion en demandera un.",
      actions: { phone_set: { label: "Continuer" } },
    },
    device_trust: {
      title: "Est-ce votre propre appareil ?",
      sentence: "Si vous êtes seul à l’utiliser, nous pouvons y omettre la deuxième étape pendant un temps.",
    },
    webauthn_credential_verification: {
      title: "Créez votre clé d’accès",
      sentence: "Votre navigateur vous demande où l’enregistrer. Suivez ses instructions.",
      variants: {
        security_key: {
          title: "Configurez votre clé de sécurité",
          sentence: "Branchez-la ou approchez-la, puis suivez les instructions de votre navigateur.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "Vous êtes connecté",
      sentence: "Vous pouvez fermer cette page.",
    },
    error: {
      title: "Cela n’a pas fonctionné",
      variants: { signed_out: { title: "Veuillez vous connecter" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "Continuer" },
    continue_with_login_identifier: { label: "Continuer" },
    register_login_identifier: { label: "Continuer" },
    webauthn_generate_request_options: {
      label: "Se connecter avec une clé d’accès",
      hint: "Empreinte digitale, visage, verrouillage de l’écran ou clé de sécurité",
    },
    webauthn_generate_creation_options: { label: "Créer une clé d’accès" },
    remember_me: { label: "Rester connecté" },
    continue_to_password_login: {
      label: "Saisir votre mot de passe",
      hint: "Celui que vous avez défini pour ce compte",
    },
    continue_to_passcode_confirmation: {
      label: "Recevoir un code par e-mail",
      hint: "Valable quelques minutes",
    },
    continue_to_phone_confirmation: { label: "Recevoir un code par SMS", hint: "Valable quelques minutes" },
    continue_to_passcode_confirmation_recovery: { label: "Mot de passe oublié ?" },
    continue_to_passkey_registration: {
      label: "Avec une clé d’accès",
      hint: "Empreinte digitale, visage ou verrouillage de l’écran ; rien à retenir",
    },
    continue_to_password_registration: {
      label: "Avec un mot de passe",
      hint: "Fonctionne sur tous les appareils",
    },
    password_login: { label: "Se connecter" },
    password_recovery: { label: "Enregistrer le nouveau mot de passe" },
    register_password: { label: "Enregistrer le mot de passe" },
    verify_passcode: { label: "Confirmer" },
    resend_passcode: {
      label: "Envoyer un nouveau code",
      waiting: "Nouveau code dans {time}",
      done: "Un nouveau code est en route. L’ancien n’est plus valable.",
    },
    email_address_set: { label: "Continuer" },
    username_set: { label: "Continuer" },
    skip: { label: "Pas maintenant" },
    back: { label: "Retour" },
    thirdparty_oauth: { label: "Continuer avec" },
    exchange_token: { label: "Continuer" },
    otp_code_validate: { label: "Confirmer" },
    otp_code_verify: { label: "Confirmer" },
    recovery_code_validate: {
      label: "Utiliser un code de récupération",
      hint: "L’un des codes enregistrés lors de la configuration de la deuxième étape. Chacun ne sert qu’une fois.",
      submit: "Utiliser ce code",
    },
    continue_to_login_otp: { label: "Utiliser plutôt un code de l’application" },
    continue_to_login_security_key: { label: "Utiliser plutôt une clé de sécurité" },
    continue_to_login_method_chooser: { label: "Autres façons de se connecter" },
    continue_to_login_authenticator: { label: "Confirmer plutôt avec votre téléphone" },
    authenticator_verify: { label: "J’ai confirmé" },
    continue_to_otp_secret_creation: {
      label: "Une application d’authentification",
      hint: "Affiche un nouveau code toutes les trente secondes, sur votre téléphone",
    },
    continue_to_security_key_creation: {
      label: "Une clé de sécurité",
      hint: "Un petit appareil que l’on branche ou que l’on approche",
    },
    continue_to_phone_creation: {
      label: "Des codes par SMS",
      hint: "Sur votre numéro de téléphone ; une application est plus sûre",
    },
    consent_allow: { label: "Autoriser" },
    consent_deny: { label: "Ne pas autoriser" },
    device_code_verify: { label: "Continuer" },
    trust_device: { label: "Oui, faire confiance à cet appareil" },
    phone_set: {
      label: "Définir",
      submit: "Continuer",
      done: "Le numéro de téléphone est défini.",
    },
    username_create: {
      label: "Choisir un nom d’utilisateur",
      submit: "Enregistrer",
      done: "Votre nom d’utilisateur est défini.",
    },
  },
  inputs: {
    user_code: {
      label: "Code",
      errors: { value_invalid_error: "Ce code est faux, a expiré ou a déjà servi." },
    },
    identifier: { label: "E-mail ou nom d’utilisateur" },
    email: {
      label: "E-mail",
      errors: {
        value_invalid_error: "Cela ne ressemble pas à une adresse e-mail. Y a-t-il une faute de frappe ?",
      },
    },
    username: { label: "Nom d’utilisateur" },
    phone: {
      label: "Numéro de téléphone",
      hint: "Avec l’indicatif du pays, par exemple +33 6 12 34 56 78",
      errors: {
        value_invalid_error:
          "Cela ne ressemble pas à un numéro de téléphone. Commence-t-il par l’indicatif du pays ?",
      },
    },
    password: {
      label: "Mot de passe",
      errors: { value_invalid_error: "Ce mot de passe ne correspond pas. Veuillez réessayer." },
    },
    new_password: {
      label: "Nouveau mot de passe",
      hint: "Au moins {min} caractères. Quelques mots à la suite conviennent bien.",
      errors: {
        value_invalid_error: "Ce mot de passe est trop courant pour être sûr. Choisissez-en un autre.",
      },
    },
    code: { label: "Code", errors: { value_too_short_error: "Saisissez le code en entier." } },
    remember_me: { label: "Rester connecté" },
    provider: { label: "Continuer avec" },
    otp_code: {
      label: "Code",
      errors: {
        value_too_short_error: "Le code comporte six chiffres.",
        passcode_invalid: "Ce code ne correspond pas. Consultez de nouveau votre application.",
      },
    },
    recovery_code: { label: "Code de récupération" },
  },
  errors: {
    form_data_invalid_error: "Veuillez vérifier votre saisie.",
    value_missing_error: "Veuillez remplir ce champ.",
    value_invalid_error: "Cette valeur n’est pas valable. Veuillez la vérifier.",
    value_too_short_error: "Utilisez au moins {min} caractères.",
    value_too_long_error: "Utilisez au plus {max} caractères.",
    email_already_exists: "Un compte existe déjà avec cette adresse e-mail.",
    username_already_exists: "Ce nom d’utilisateur est déjà pris. Choisissez-en un autre.",
    unknown_email_error: "Nous ne connaissons aucun compte avec cette adresse e-mail.",
    unknown_username_error: "Nous ne connaissons aucun compte avec ce nom d’utilisateur.",
    phone_number_already_exists: "Il existe déjà un compte avec ce numéro de téléphone.",
    phone_number_not_allowed:
      "Aucun code ne peut être envoyé à ce numéro. Utilisez le numéro d’un téléphone mobile d’un pays desservi ici.",
    unknown_phone_number_error: "Nous ne connaissons aucun compte avec ce numéro de téléphone.",
    invalid_username_error:
      "Un nom d’utilisateur ne comporte que des lettres, des chiffres et des traits de soulignement.",
    passcode_invalid: "Ce n’est pas le code que nous avons envoyé, ou il a expiré. Veuillez le vérifier.",
    passcode_max_attempts_reached: "Trop de tentatives. Veuillez demander un nouveau code.",
    passkey_invalid:
      "Nous n’avons pas pu accepter cette clé d’accès. Réessayez, ou connectez-vous d’une autre façon.",
    webauthn_credential_invalid_mfa_only:
      "Cette clé de sécurité ne sert que de deuxième étape. Connectez-vous d’abord d’une autre façon.",
    operation_not_permitted_error:
      "Cette étape n’est plus ouverte. Elle a peut-être été terminée dans une autre fenêtre.",
    flow_discontinuity_error: "Impossible de continuer à partir d’ici. Veuillez recommencer.",
    flow_expired_error: "Après un moment d’inactivité, nous avons fermé cette page pour votre sécurité.",
    rate_limit_exceeded: "C’était un peu rapide. Patientez un instant, puis réessayez.",
    temporarily_unavailable: "Cela n’a pas fonctionné. Rien n’est perdu : réessayez dans un instant.",
    technical_error: "Une erreur s’est produite de notre côté. Vous n’y êtes pour rien. Veuillez réessayer.",
    unauthorized: "Votre compte n’est visible que par vous. Connectez-vous pour le voir.",
    forbidden: "Ce n’est pas disponible ici.",
    not_found: "Cet élément n’existe plus. Vous l’avez peut-être supprimé dans une autre fenêtre.",
    platform_authenticator_required:
      "Votre compte exige une deuxième étape que cet appareil ne prend pas en charge. Utilisez un autre appareil.",
    user_conflict:
      "Un compte existe déjà avec cette adresse e-mail. Connectez-vous d’abord à celui-ci, puis associez-y l’autre.",
    account_blocked: "Ce compte est bloqué. Adressez-vous au service auquel il appartient.",
    signup_disabled: "La création de comptes n’est pas possible ici pour le moment.",
    third_party_access_denied:
      "Vous avez fait demi-tour, ou l’autre site ne vous a pas laissé entrer. Vous pouvez réessayer.",
    identity_not_linked: "Ce n’est pas le compte associé ici. Utilisez celui qui l’est.",
    identity_already_linked: "Ce compte est déjà associé à celui de quelqu’un d’autre.",
    otp_code_invalid: "Ce code ne correspond pas. Consultez de nouveau votre application.",
    otp_code_already_used: "Ce code a déjà été utilisé. Attendez le suivant.",
    recovery_code_invalid: "Ce n’est pas l’un de vos codes de récupération, ou il a déjà été utilisé.",
    authenticator_request_pending:
      "Votre téléphone n’a pas encore confirmé. Scannez le code et confirmez sur le téléphone.",
    authenticator_request_failed:
      "Votre téléphone n’a pas confirmé. Scannez le nouveau code pour réessayer, ou choisissez une autre méthode.",
    authenticator_request_expired: "Le code avait expiré. Scannez le nouveau.",
    invalid_metadata_error: "Il faut un objet JSON de 3000 caractères au plus.",
    webauthn_credential_already_exists: "Une clé d’accès pour ce compte existe déjà sur cet appareil.",
    passkey_cancelled: "La clé d’accès n’a pas été utilisée. Réessayez, ou choisissez une autre méthode.",
    passkey_failed: "Votre navigateur n’a pas pu utiliser de clé d’accès ici. Choisissez une autre méthode.",
    connection_lost: "La connexion est interrompue. Nouvelle tentative…",
    connection_missing: "Le service est injoignable. Vérifiez votre connexion.",
    origin_refused:
      "Cette page ne peut pas afficher la connexion : le service ne connaît pas son adresse. Ses responsables peuvent y remédier.",
    connection_back: "La connexion est rétablie. Veuillez répéter la dernière étape.",
    cookies_blocked:
      "Votre navigateur ne garde aucun cookie pour cette page, et il en faut un pour se connecter. Autorisez les cookies, puis rechargez la page.",
    page_out_of_date: "Vous avez continué ailleurs ; nous avons mis cette page à jour.",
    proved_again: "Merci. Vous pouvez maintenant effectuer votre modification.",
    page_renewed: "Après un moment d’inactivité, nous avons recommencé au début.",
    not_json: "Ce n’est pas du JSON valide.",
    third_party_failed:
      "La connexion sur l’autre site n’a pas abouti. Réessayez, ou choisissez une autre méthode.",
    multiple_accounts: "L’adresse e-mail de l’autre compte appartient ici à quelqu’un d’autre.",
    unverified_email: "L’autre site n’a pas confirmé votre adresse e-mail. Confirmez-la d’abord là-bas.",
    email_maxnum: "Votre compte a atteint le nombre maximal d’adresses e-mail.",
  },
  links: { terms: "Conditions d’utilisation", privacy: "Politique de confidentialité", help: "Aide" },
  consent: {
    terms: "En vous inscrivant, vous acceptez ceci : {link}.",
    privacy: "Ce que deviennent vos données : {link}.",
  },
  page: {
    ...messages,
    account: "Compte",
    useAnother: "Utiliser un autre compte",
    supportNumber: "Numéro d’assistance",
    signInInstead: "Se connecter avec cette adresse",
    waitingForBrowser: "En attente de votre navigateur…",
    nothingHappens: "Rien ne se passe ? Réessayez, ou revenez en arrière pour choisir une autre façon.",
    optional: "facultatif",
    or: "ou",
    showPassword: "Afficher le mot de passe",
    hidePassword: "Masquer le mot de passe",
    apply: "Appliquer",
    choose: "Veuillez choisir",
    startAgain: "Recommencer",
    tryAgain: "Réessayer",
    tryAgainIn: "Réessayer dans {time}",
    waitFor: "Vous pourrez réessayer dans {time}.",
    signedInAs: "Connecté en tant que",
    returning: "Retour vers {host}…",
    nothingToDo: "Il n’y a rien à faire ici pour le moment.",
    languages: "Langue",
    working: "Un instant…",
    secret: "Clé",
    qrCode: "Code QR à scanner avec votre application",
    waitingForAuthenticator: "En attente de votre téléphone. La page continuera d’elle-même.",
    errorTitle: "Un problème est survenu sur cette page",
    reload: "Recharger",
    toSignIn: "Aller à la connexion",
    toAccount: "Aller à votre compte",
    signIn: "Se connecter",
    continueAt: "Continuer sur {host}",
    continueWith: "Continuer avec {provider}",
    copy: "Copier",
    copied: "Copié",
    download: "Télécharger",
    print: "Imprimer",
    recoveryCodes: "Vos codes de récupération",
    recoveryCodesSentence:
      "Si vous perdez votre deuxième étape, l’un de ces codes vous laisse entrer. Chacun ne sert qu’une fois. Conservez-les en lieu sûr : nous ne les affichons que maintenant.",
    recoveryCodesFile: "codes de récupération",
    saved: "Je les ai enregistrés",
    confirm: "Êtes-vous sûr ?",
    cancel: "Annuler",
  },
};

export const flow = withAccount(signIn, account);
