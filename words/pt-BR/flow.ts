import type { SignInWords } from "../flow.ts";
import { withAccount } from "../with-account.ts";
import { account } from "./account.ts";
import { messages } from "./messages.ts";

/** Texts about security keys, where the general text is about passkeys. */
const securityKeyErrors = {
  passkey_invalid: "Não foi possível aceitar esta chave de segurança. Tente de novo ou use outra.",
  passkey_cancelled: "A chave de segurança não foi usada. Tente de novo ou escolha outra forma.",
  passkey_failed: "Seu navegador não conseguiu usar uma chave de segurança aqui. Escolha outra forma.",
  webauthn_credential_already_exists: "Esta chave de segurança já pertence à sua conta.",
};

const signIn: SignInWords = {
  states: {
    preflight: {
      title: "Boas-vindas",
      sentence: "Só mais um passo para começar.",
    },
    login_init: {
      title: "Entrar",
      sentence: "Que bom ver você de novo.",
      other: { flow: "registration", question: "É novo por aqui?", label: "Criar uma conta" },
    },
    login_passkey: {
      title: "Use sua chave de acesso",
      sentence:
        "Seu navegador está pedindo por ela. Confirme com impressão digital, rosto, bloqueio de tela ou chave de segurança.",
      variants: {
        signed_in: {
          title: "Use sua chave de acesso",
          sentence: "Antes de mudar algo importante, confirme que é você.",
        },
        security_key: {
          title: "Use sua chave de segurança",
          sentence: "Seu navegador está pedindo por ela. Conecte-a ou aproxime-a e depois toque nela.",
          errors: securityKeyErrors,
        },
      },
    },
    login_method_chooser: {
      title: "Como você quer entrar?",
      variants: {
        signed_in: {
          title: "Ainda é você?",
          sentence: "Antes de mudar algo importante, confirme que é você.",
        },
      },
    },
    login_password: {
      title: "Digite sua senha",
      variants: {
        signed_in: {
          title: "Digite sua senha",
          sentence: "Antes de mudar algo importante, confirme que é você.",
        },
      },
    },
    login_password_recovery: {
      title: "Escolha uma nova senha",
      sentence: "Ela substitui a antiga em todos os lugares.",
    },
    passcode_confirmation: {
      title: "Confira seu e-mail",
      sentence: "Enviamos um código de seis dígitos para você. Ele vale por {time}.",
      sentenceWithSubject: "Enviamos um código de seis dígitos para {subject}. Ele vale por {time}.",
      note: "Não chegou? Confira também a caixa de spam.",
      variants: {
        letters: {
          sentence: "Enviamos um código de seis caracteres para você. Ele vale por {time}.",
          sentenceWithSubject: "Enviamos um código de seis caracteres para {subject}. Ele vale por {time}.",
        },
      },
    },
    phone_confirmation: {
      title: "Confira seu celular",
      sentence: "Enviamos um código de seis dígitos por SMS para você. Ele vale por {time}.",
      sentenceWithSubject: "Enviamos um código de seis dígitos por SMS para {subject}. Ele vale por {time}.",
    },
    password_creation: {
      title: "Defina uma senha",
      sentence: "Com ela, você entra em qualquer dispositivo.",
    },
    onboarding_email: {
      title: "Adicione seu endereço de e-mail",
      sentence: "Para que você sempre consiga voltar à sua conta.",
      variants: {
        no_address: {
          title: "Adicione seu endereço de e-mail",
          sentence:
            "O serviço que você usou para entrar não nos informou seu endereço de e-mail. Com ele, você sempre consegue voltar à sua conta.",
        },
      },
    },
    onboarding_username: {
      title: "Escolha um nome de usuário",
      sentence: "Um nome curto para você entrar.",
    },
    credential_onboarding_chooser: {
      title: "Como você vai entrar da próxima vez?",
      sentence: "Você pode adicionar a outra forma depois.",
    },
    onboarding_create_passkey: {
      title: "Entre sem senha",
      sentence:
        "Com uma chave de acesso, basta sua impressão digital, seu rosto ou o bloqueio de tela. Nada para lembrar, e nada que possa ser roubado de nós.",
    },
    onboarding_verify_passkey_attestation: {
      title: "Crie sua chave de acesso",
      sentence: "Seu navegador pergunta onde guardá-la. Siga as instruções dele para concluir.",
      variants: {
        security_key: {
          title: "Configure sua chave de segurança",
          sentence: "Conecte-a ou aproxime-a e siga as instruções do navegador.",
          errors: securityKeyErrors,
        },
      },
    },
    registration_init: {
      title: "Crie sua conta",
      sentence: "Leva menos de um minuto.",
      other: { flow: "login", question: "Já esteve aqui?", label: "Tenho uma conta" },
      variants: {
        closed: {
          title: "Sem novas contas no momento",
          sentence: "No momento, não é possível criar novas contas aqui. Se você já tem uma, pode entrar.",
          nextPage: "sign_in",
        },
      },
    },
    thirdparty: {
      title: "Um momento",
      sentence: "Você entra no outro site e volta em seguida.",
      actions: { exchange_token: { label: "Continuar" } },
      errors: {
        form_data_invalid_error:
          "Não foi possível entrar pelo outro site. Tente de novo ou escolha outra forma.",
      },
      variants: {
        rejected: { title: "Não deu certo", actions: { back: { label: "Outras formas de entrar" } } },
        not_connected: { title: "Não deu certo", actions: { back: { label: "Ir para sua conta" } } },
      },
    },
    login_otp: {
      title: "Digite o código do seu app",
      sentence: "Abra seu app autenticador. Ele mostra um código de seis dígitos, novo a cada meio minuto.",
    },
    login_security_key: {
      title: "Confirme com sua chave de segurança",
      sentence: "É a segunda etapa para entrar. Tenha a chave à mão.",
      actions: {
        webauthn_generate_request_options: { label: "Usar sua chave de segurança" },
      },
      errors: securityKeyErrors,
    },
    login_authenticator: {
      title: "Confirme com seu celular",
      sentence: "Escaneie este código com o app do seu celular e confirme nele que é você.",
      actions: { continue_to_login_otp: { label: "Digitar um código de seis dígitos" } },
      variants: {
        waits: {
          title: "Confirme com seu celular",
          sentence: "Em um momento, você poderá escanear um novo código.",
          actions: {
            authenticator_verify: { label: "Mostrar um novo código", waiting: "Novo código em {time}" },
            continue_to_login_otp: { label: "Digitar um código de seis dígitos" },
          },
          errors: {
            rate_limit_exceeded: "Muitos códigos foram pedidos agora há pouco. Aguarde um momento.",
            authenticator_request_expired: "Muitos códigos foram pedidos agora há pouco. Aguarde um momento.",
            authenticator_request_failed:
              "Seu celular não confirmou. Aguarde um novo código ou escolha outra forma.",
          },
        },
      },
    },
    login_sms: {
      title: "Digite o código do SMS",
      sentence: "É a segunda etapa para entrar. Enviamos o código para o número de telefone da sua conta.",
    },
    mfa_method_chooser: {
      title: "Adicione uma segunda etapa",
      sentence: "Assim, só uma senha roubada não basta para entrar. O que você quer usar?",
    },
    mfa_otp_secret_creation: {
      title: "Configure seu app autenticador",
      sentence:
        "Escaneie a imagem com o app ou copie a chave para ele. Depois digite o código que ele mostra.",
    },
    mfa_security_key_creation: {
      title: "Configure uma chave de segurança",
      sentence: "Um pequeno dispositivo que você conecta ou aproxima. Tenha-o à mão.",
      actions: { webauthn_generate_creation_options: { label: "Configurar uma chave de segurança" } },
      errors: securityKeyErrors,
    },
    mfa_phone_creation: {
      title: "Configurar códigos por SMS",
      sentence: "Enviamos um código para confirmar o número. Depois, cada vez que você entrar, pediremos um.",
      actions: { phone_set: { label: "Continuar" } },
    },
    device_trust: {
      title: "Este dispositivo é seu?",
      sentence: "Se só você o usa, podemos dispensar a segunda etapa aqui por um tempo.",
    },
    webauthn_credential_verification: {
      title: "Crie sua chave de acesso",
      sentence: "Seu navegador pergunta onde guardá-la. Siga as instruções dele para concluir.",
      variants: {
        security_key: {
          title: "Configure sua chave de segurança",
          sentence: "Conecte-a ou aproxime-a e siga as instruções do navegador.",
          errors: securityKeyErrors,
        },
      },
    },
    success: {
      end: true,
      nextPage: "account",
      title: "Você entrou",
      sentence: "Já pode fechar esta página.",
    },
    error: {
      title: "Não deu certo",
      variants: { signed_out: { title: "Entre na sua conta" } },
    },
  },
  actions: {
    register_client_capabilities: { label: "Continuar" },
    continue_with_login_identifier: { label: "Continuar" },
    register_login_identifier: { label: "Continuar" },
    webauthn_generate_request_options: {
      label: "Entrar com uma chave de acesso",
      hint: "Impressão digital, rosto, bloqueio de tela ou chave de segurança",
    },
    webauthn_generate_creation_options: { label: "Criar uma chave de acesso" },
    remember_me: { label: "Continuar conectado" },
    continue_to_password_login: { label: "Digitar sua senha", hint: "A que você definiu para esta conta" },
    continue_to_passcode_confirmation: {
      label: "Receber um código por e-mail",
      hint: "Válido por alguns minutos",
    },
    continue_to_phone_confirmation: { label: "Receber um código por SMS", hint: "Válido por alguns minutos" },
    continue_to_passcode_confirmation_recovery: { label: "Esqueceu a senha?" },
    continue_to_passkey_registration: {
      label: "Com uma chave de acesso",
      hint: "Impressão digital, rosto ou bloqueio de tela; nada para lembrar",
    },
    continue_to_password_registration: { label: "Com uma senha", hint: "Funciona em qualquer dispositivo" },
    password_login: { label: "Entrar" },
    password_recovery: { label: "Salvar a nova senha" },
    register_password: { label: "Salvar a senha" },
    verify_passcode: { label: "Confirmar" },
    resend_passcode: {
      label: "Enviar um novo código",
      waiting: "Novo código em {time}",
      done: "Um novo código está a caminho. O antigo não vale mais.",
    },
    email_address_set: { label: "Continuar" },
    username_set: { label: "Continuar" },
    skip: { label: "Agora não" },
    back: { label: "Voltar" },
    thirdparty_oauth: { label: "Continuar com" },
    exchange_token: { label: "Continuar" },
    otp_code_validate: { label: "Confirmar" },
    otp_code_verify: { label: "Confirmar" },
    recovery_code_validate: {
      label: "Usar um código de recuperação",
      hint: "Um dos códigos que você salvou ao configurar a segunda etapa. Cada um vale uma vez.",
      submit: "Usar este código",
    },
    continue_to_login_otp: { label: "Usar um código do app" },
    continue_to_login_security_key: { label: "Usar uma chave de segurança" },
    continue_to_login_method_chooser: { label: "Outras formas de entrar" },
    continue_to_login_authenticator: { label: "Confirmar com seu celular" },
    authenticator_verify: { label: "Já confirmei" },
    continue_to_otp_secret_creation: {
      label: "Um app autenticador",
      hint: "Mostra um novo código a cada meio minuto, no seu celular",
    },
    continue_to_security_key_creation: {
      label: "Uma chave de segurança",
      hint: "Um pequeno dispositivo que você conecta ou aproxima",
    },
    continue_to_phone_creation: {
      label: "Códigos por SMS",
      hint: "No seu número de telefone; um app é mais seguro",
    },
    consent_allow: { label: "Permitir" },
    consent_deny: { label: "Não permitir" },
    device_code_verify: { label: "Continuar" },
    trust_device: { label: "Sim, confiar neste dispositivo" },
    phone_set: {
      label: "Definir",
      submit: "Continuar",
      done: "O número de telefone foi definido.",
    },
    username_create: {
      label: "Escolher um nome de usuário",
      submit: "Salvar",
      done: "Seu nome de usuário foi definido.",
    },
  },
  inputs: {
    user_code: {
      label: "Código",
      errors: { value_invalid_error: "Este código está errado, expirou ou já foi usado." },
    },
    identifier: { label: "E-mail ou nome de usuário" },
    email: {
      label: "E-mail",
      errors: { value_invalid_error: "Isto não parece um endereço de e-mail. Há algum erro de digitação?" },
    },
    username: { label: "Nome de usuário" },
    phone: {
      label: "Número de telefone",
      hint: "Com o código do país, como +55 11 91234-5678",
      errors: {
        value_invalid_error: "Isto não parece um número de telefone. Ele começa com o código do país?",
      },
    },
    password: {
      label: "Senha",
      errors: { value_invalid_error: "Esta senha não confere. Tente de novo." },
    },
    new_password: {
      label: "Nova senha",
      hint: "Pelo menos {min} caracteres. Algumas palavras em sequência funcionam bem.",
      errors: { value_invalid_error: "Esta senha é comum demais para ser segura. Escolha outra." },
    },
    code: { label: "Código", errors: { value_too_short_error: "Digite o código inteiro." } },
    remember_me: { label: "Continuar conectado" },
    provider: { label: "Continuar com" },
    otp_code: {
      label: "Código",
      errors: {
        value_too_short_error: "O código tem seis dígitos.",
        passcode_invalid: "Este código não confere. Olhe o app mais uma vez.",
      },
    },
    recovery_code: { label: "Código de recuperação" },
  },
  errors: {
    form_data_invalid_error: "Confira o que você digitou.",
    value_missing_error: "Preencha este campo.",
    value_invalid_error: "Isto não parece certo. Confira.",
    value_too_short_error: "Use pelo menos {min} caracteres.",
    value_too_long_error: "Use no máximo {max} caracteres.",
    email_already_exists: "Já existe uma conta com este endereço de e-mail.",
    username_already_exists: "Este nome de usuário já está em uso. Escolha outro.",
    unknown_email_error: "Não conhecemos nenhuma conta com este endereço de e-mail.",
    unknown_username_error: "Não conhecemos nenhuma conta com este nome de usuário.",
    phone_number_already_exists: "Já existe uma conta com este número de telefone.",
    phone_number_not_allowed:
      "Não é possível enviar códigos para este número. Use o número de um celular de um país atendido aqui.",
    unknown_phone_number_error: "Não conhecemos nenhuma conta com este número de telefone.",
    invalid_username_error: "Um nome de usuário tem apenas letras, números e sublinhados.",
    passcode_invalid: "Este não é o código que enviamos, ou ele expirou. Confira.",
    passcode_max_attempts_reached: "Foram tentativas demais. Peça um novo código.",
    passkey_invalid: "Não foi possível aceitar esta chave de acesso. Tente de novo ou entre de outra forma.",
    webauthn_credential_invalid_mfa_only:
      "Esta chave de segurança serve apenas como segunda etapa. Primeiro, entre de outra forma.",
    operation_not_permitted_error:
      "Esta etapa não está mais aberta. Talvez tenha sido concluída em outra janela.",
    flow_discontinuity_error: "Não há como continuar daqui. Comece de novo.",
    flow_expired_error: "Você ficou um tempo fora e, por segurança, fechamos esta página.",
    rate_limit_exceeded: "Foi um pouco rápido demais. Aguarde um momento e tente de novo.",
    temporarily_unavailable: "Não deu certo agora. Nada se perdeu: tente de novo em instantes.",
    technical_error: "Algo deu errado do nosso lado. A culpa não é sua. Tente de novo.",
    unauthorized: "Sua conta só é mostrada a você. Entre para vê-la.",
    forbidden: "Isto não está disponível aqui.",
    not_found: "Isto não existe mais. Talvez você tenha removido em outra janela.",
    platform_authenticator_required:
      "Sua conta exige uma segunda etapa que este dispositivo não oferece. Use outro dispositivo.",
    user_conflict:
      "Já existe uma conta com este endereço de e-mail. Primeiro entre nela e depois vincule a outra.",
    account_blocked: "Esta conta está bloqueada. Fale com o serviço ao qual ela pertence.",
    signup_disabled: "No momento, não é possível criar novas contas aqui.",
    third_party_access_denied:
      "Você voltou, ou o outro site não deixou você entrar. Você pode tentar de novo.",
    identity_not_linked: "Esta não é a conta vinculada aqui. Use a que está vinculada.",
    identity_already_linked: "Esta conta já está vinculada à de outra pessoa.",
    otp_code_invalid: "Este código não confere. Olhe o app mais uma vez.",
    otp_code_already_used: "Este código já foi usado. Aguarde o próximo.",
    recovery_code_invalid: "Este não é um dos seus códigos de recuperação, ou já foi usado.",
    authenticator_request_pending: "Seu celular ainda não confirmou. Escaneie o código e confirme nele.",
    authenticator_request_failed:
      "Seu celular não confirmou. Escaneie o novo código para tentar de novo ou escolha outra forma.",
    authenticator_request_expired: "O código tinha expirado. Escaneie o novo.",
    invalid_metadata_error: "Precisa ser um objeto JSON de no máximo 3000 caracteres.",
    webauthn_credential_already_exists: "Já existe uma chave de acesso desta conta neste dispositivo.",
    passkey_cancelled: "A chave de acesso não foi usada. Tente de novo ou escolha outra forma.",
    passkey_failed: "Seu navegador não conseguiu usar uma chave de acesso aqui. Escolha outra forma.",
    connection_lost: "A conexão caiu. Tentando de novo…",
    connection_missing: "Não conseguimos acessar o serviço. Verifique sua conexão.",
    origin_refused:
      "Esta página não pode mostrar a entrada: o serviço não conhece o endereço dela. Os responsáveis podem corrigir isso.",
    connection_back: "A conexão voltou. Repita a última etapa.",
    cookies_blocked:
      "Seu navegador não guarda cookies desta página, e é preciso um para entrar. Permita os cookies e recarregue a página.",
    page_out_of_date: "Você continuou em outro lugar, então atualizamos esta página.",
    proved_again: "Obrigado. Agora você pode fazer a alteração que queria.",
    page_renewed: "Você ficou um tempo fora, então recomeçamos.",
    not_json: "Isto não é um JSON válido.",
    third_party_failed: "Não foi possível entrar pelo outro site. Tente de novo ou escolha outra forma.",
    multiple_accounts: "O endereço de e-mail da outra conta pertence aqui a outra pessoa.",
    unverified_email: "O outro site não confirmou seu endereço de e-mail. Confirme-o lá primeiro.",
    email_maxnum: "Sua conta já tem o número máximo de endereços de e-mail.",
  },
  links: { terms: "Termos de uso", privacy: "Política de privacidade", help: "Ajuda" },
  consent: { terms: "Ao se cadastrar, você aceita: {link}.", privacy: "Como usamos seus dados: {link}." },
  page: {
    ...messages,
    account: "Conta",
    useAnother: "Usar outra conta",
    supportNumber: "Número de suporte",
    signInInstead: "Entrar com este endereço",
    waitingForBrowser: "Aguardando seu navegador…",
    nothingHappens: "Nada acontece? Tente de novo ou volte e escolha outra forma.",
    optional: "opcional",
    or: "ou",
    showPassword: "Mostrar a senha",
    hidePassword: "Ocultar a senha",
    apply: "Aplicar",
    choose: "Escolha",
    startAgain: "Começar de novo",
    tryAgain: "Tentar de novo",
    tryAgainIn: "Tentar de novo em {time}",
    waitFor: "Você poderá tentar de novo em {time}.",
    signedInAs: "Conectado como",
    returning: "Voltando para {host}…",
    nothingToDo: "Não há nada a fazer aqui no momento.",
    languages: "Idioma",
    working: "Um momento…",
    secret: "Chave",
    qrCode: "Código QR para escanear com seu app",
    waitingForAuthenticator: "Aguardando seu celular. Esta página continua sozinha.",
    errorTitle: "Algo quebrou nesta página",
    reload: "Recarregar",
    toSignIn: "Ir para a entrada",
    toAccount: "Ir para sua conta",
    signIn: "Entrar",
    continueAt: "Continuar em {host}",
    continueWith: "Continuar com {provider}",
    copy: "Copiar",
    copied: "Copiado",
    download: "Baixar",
    print: "Imprimir",
    recoveryCodes: "Seus códigos de recuperação",
    recoveryCodesSentence:
      "Se você perder a segunda etapa, um destes códigos permite entrar. Cada um vale uma vez. Guarde-os em um lugar seguro: eles só são mostrados agora.",
    recoveryCodesFile: "códigos de recuperação",
    saved: "Já salvei os códigos",
    confirm: "Tem certeza?",
    cancel: "Cancelar",
  },
};

export const flow = withAccount(signIn, account);
