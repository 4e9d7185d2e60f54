import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} é seu código para entrar em {service}",
      heading: "Seu código para entrar",
      request: "Digite este código para entrar em {service}:",
      ignore: "Se você não tentou entrar, pode ignorar esta mensagem. Sem o código, ninguém consegue entrar.",
    },
    recovery: {
      subject: "{code} é seu código para redefinir a senha de {service}",
      heading: "Definir uma nova senha",
      request: "Digite este código para definir uma nova senha de {service}:",
      ignore: "Se você não pediu uma nova senha, pode ignorar esta mensagem. Sua senha continua como está.",
    },
    email_verification: {
      subject: "{code} é seu código de confirmação de {service}",
      heading: "Confirme seu endereço de e-mail",
      request: "Digite este código para confirmar que este endereço de e-mail é seu:",
      ignore: "Se você não informou este endereço a {service}, pode ignorar esta mensagem.",
    },
    email_login_attempted: {
      subject: "Tentativa de entrar em {service}",
      preview: "Não existe conta com este endereço de e-mail.",
      heading: "Nenhuma conta com este endereço",
      event: "Alguém tentou entrar em {service} com este endereço de e-mail, mas não existe conta com ele.",
      advice: "Se foi você, talvez tenha se cadastrado com outro endereço.",
      ignore: "Se não foi você, pode ignorar esta mensagem. Nada aconteceu.",
    },
    email_registration_attempted: {
      subject: "Você já tem uma conta em {service}",
      preview: "Alguém tentou se cadastrar com este endereço de e-mail.",
      heading: "Você já tem uma conta",
      event:
        "Alguém tentou se cadastrar em {service} com este endereço de e-mail, mas você já tem uma conta.",
      advice: "Se foi você, entre com este endereço.",
      ignore: "Se não foi você, pode ignorar esta mensagem. Sua conta não mudou.",
    },
    recovery_offered: {
      subject: "Entre novamente em {service}",
      preview: "Você pode pedir um código e definir uma nova senha.",
      heading: "Entrar novamente",
      event: "Os responsáveis por {service} receberam um pedido para ajudar você a entrar na sua conta.",
      advice:
        "Acesse {host} e digite este endereço de e-mail. Lá você pode pedir um código e, se usar uma, definir uma nova senha.",
      ignore: "Se você não pediu ajuda, pode ignorar esta mensagem. Sua conta não mudou.",
    },
    email_create: {
      subject: "Um endereço de e-mail foi adicionado à sua conta em {service}",
      heading: "Um novo endereço de e-mail",
      event: "O endereço de e-mail {address} foi adicionado à sua conta em {service}.",
    },
    email_delete: {
      subject: "Um endereço de e-mail foi removido da sua conta em {service}",
      heading: "Um endereço de e-mail foi removido",
      event: "O endereço de e-mail {address} foi removido da sua conta em {service}.",
    },
    primary_email_update: {
      subject: "O endereço de e-mail principal da sua conta em {service} mudou",
      heading: "Um novo endereço de e-mail principal",
      event:
        "O endereço de e-mail principal da sua conta em {service} agora é {address}. As mensagens sobre sua conta vão para lá.",
    },
    password_update: {
      subject: "A senha da sua conta em {service} mudou",
      heading: "Uma nova senha",
      event: "Uma nova senha foi definida para sua conta em {service}.",
    },
    password_delete: {
      subject: "A senha da sua conta em {service} foi removida",
      heading: "Sua senha foi removida",
      event: "A senha da sua conta em {service} foi removida.",
    },
    passkey_create: {
      subject: "Uma chave de acesso foi adicionada à sua conta em {service}",
      heading: "Uma nova chave de acesso",
      event:
        "Uma chave de acesso foi adicionada à sua conta em {service}. Quem a possui pode entrar com ela.",
    },
    passkey_delete: {
      subject: "Uma chave de acesso foi removida da sua conta em {service}",
      heading: "Uma chave de acesso foi removida",
      event:
        "Uma chave de acesso foi removida da sua conta em {service}. Ela não permite mais entrar na conta.",
    },
    mfa_create: {
      subject: "A segunda etapa para entrar em {service} mudou",
      heading: "Sua segunda etapa mudou",
      event:
        "{factor, select, totp {Um app autenticador foi configurado} security_key {Uma chave de segurança foi configurada} authenticator {Um celular foi configurado} recovery_codes {Novos códigos de recuperação foram configurados} other {Um segundo fator foi configurado}} como segunda etapa para entrar na sua conta em {service}.",
    },
    identity_create: {
      subject: "Outra conta foi vinculada a {service}",
      heading: "Outra conta foi vinculada",
      event:
        "Sua conta em {service} foi vinculada a uma conta de outro provedor, com a qual você pode entrar a partir de agora.",
    },
    recovery_code_use: {
      subject: "Um código de recuperação foi usado em {service}",
      heading: "Um código de recuperação foi usado",
      event:
        "Alguém entrou na sua conta em {service} com um dos seus códigos de recuperação, no lugar da segunda etapa. Esse código não vale mais.",
    },
    mfa_delete: {
      subject: "Uma segunda etapa para entrar em {service} foi removida",
      heading: "Uma segunda etapa foi removida",
      event:
        "{factor, select, totp {O app autenticador não pode mais ser usado} security_key {Uma chave de segurança não pode mais ser usada} authenticator {Um celular não pode mais ser usado} recovery_codes {Os códigos de recuperação não podem mais ser usados} other {Um segundo fator não pode mais ser usado}} como segunda etapa para entrar na sua conta em {service}.",
    },
    phone_create: {
      subject: "Um número de telefone foi adicionado à sua conta em {service}",
      heading: "Um novo número de telefone",
      event:
        "Um número de telefone foi definido para a sua conta em {service}. Códigos podem ser enviados para ele.",
    },
    phone_delete: {
      subject: "O número de telefone foi removido da sua conta em {service}",
      heading: "Seu número de telefone foi removido",
      event:
        "O número de telefone foi removido da sua conta em {service}. Códigos não são mais enviados para ele.",
    },
    account_delete: {
      subject: "Sua conta em {service} foi excluída",
      heading: "Sua conta foi excluída",
      event: "Sua conta em {service} foi excluída, com tudo o que havia nela.",
      unexpected: "Se não foi você, avise os responsáveis por {service}.",
    },
    impersonation: {
      subject: "Os responsáveis por {service} entraram na sua conta",
      heading: "Um acesso em seu lugar",
      event:
        "Os responsáveis por {service} entraram na sua conta em {time} para ver o que você vê. Eles não podem mudar como você entra. Isso termina no máximo após {minutes, plural, one {# minuto} other {# minutos}}. O motivo informado: {reason}",
      unexpected:
        "Se você não pediu ajuda, avise os responsáveis por {service}. Você pode encerrar a sessão em {host}, entre as suas sessões.",
    },
    new_browser: {
      subject: "Novo acesso à sua conta em {service}",
      heading: "Acesso em um novo navegador",
      event:
        "Houve um acesso à sua conta em {service} em {time}{browser, select, Unknown {} other { com {browser}}}{place, select, none {} other {, perto de {place}}}. Este navegador ainda não tinha sido usado para ela.",
      unexpected:
        "Se não foi você, outra pessoa pode ter acesso à sua conta. Entre em {host}, encerre as outras sessões e defina uma nova senha. Se você não conseguir mais entrar, avise os responsáveis por {service}.",
    },
  },
  unexpected:
    "Se não foi você, outra pessoa pode ter acesso à sua conta. Entre em {host}, desfaça a alteração, defina uma nova senha e encerre as outras sessões. Se você não conseguir mais entrar, avise os responsáveis por {service}.",
  expected: "Se foi você, não precisa fazer nada.",
  validity: "Ele vale por {minutes, plural, one {# minuto} other {# minutos}} e funciona uma única vez.",
  link: "Ou abra este link e pressione o botão na página:",
  linkLabel: "Continuar sem digitar o código",
  secrecy: "Não o informe a ninguém: {service} nunca vai pedir este código a você.",
  automatic: "{service} ({host}) enviou esta mensagem automaticamente. As respostas não são lidas.",
};
