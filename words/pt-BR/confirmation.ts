import type { ConfirmationWords } from "../confirmation.ts";

export const confirmation: ConfirmationWords = {
  title: "Você concorda com isto?",
  sentence: "{application} pede sua concordância. Sua chave de acesso assina exatamente o que você lê aqui.",
  agreement: "Com o que você concorda",
  members: { amount: "Valor", to: "Para", reference: "Referência", items: "Itens" },
  rest: "Também faz parte:",
  confirm: "Confirmar com chave de acesso",
  decline: "Recusar",
  returning: "Depois você volta para {host}.",
  exact: "Mostrar o texto exato",
  exactSentence: "Isto é o que será assinado, caractere por caractere: a referência e os dados.",
  hides: "Há aqui caracteres que não podem ser vistos. Nós os marcamos. Na dúvida, recuse.",
  unseen: "caractere {code}, que não pode ser visto",
  yes: "sim",
  no: "não",
  nothing: "nada",
  empty: "vazio",
  noScript: "As chaves de acesso precisam de JavaScript. Ative-o para esta página e recarregue-a.",
  redirecting: "Voltando para {host}.",
  continueAt: "Continuar para {host}",
  ends: {
    confirmed: { title: "Obrigado, está confirmado", sentence: "Já pode fechar esta página." },
    declined: { title: "Você recusou", sentence: "Nada foi assinado. Já pode fechar esta página." },
    expired: {
      title: "Isto demorou um pouco demais",
      sentence:
        "Por segurança, a página foi fechada e nada foi assinado. Comece de novo no lugar de onde você veio.",
    },
    answered: {
      title: "Isto já foi respondido",
      sentence: "Não há mais nada a fazer aqui. Já pode fechar esta página.",
    },
    unknown: {
      title: "Esta página não está mais aberta",
      sentence: "Talvez já tenha sido respondida ou expirado. Comece de novo no lugar de onde você veio.",
    },
  },
  errors: {
    cancelled: "A chave de acesso não foi usada, então nada foi assinado. Tente de novo ou recuse.",
    failed: "Seu navegador não conseguiu usar uma chave de acesso aqui. Nada foi assinado.",
    unsupported:
      "Este navegador não oferece chaves de acesso. Abra esta página em outro dispositivo ou recuse.",
    refused: "Não foi possível aceitar esta chave de acesso. Nada foi assinado. Tente de novo.",
    slow: "Foi um pouco rápido demais. Aguarde um momento e tente de novo.",
    offline: "Não conseguimos acessar o serviço. Verifique sua conexão e tente de novo.",
    technical: "Algo deu errado do nosso lado. A culpa não é sua. Tente de novo.",
  },
};
