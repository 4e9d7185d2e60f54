import type { MessageTexts } from "../flow.ts";

export const messages: MessageTexts = {
  notFoundTitle: "Não há página aqui",
  notFoundSentence: "O endereço pode ter um erro de digitação, ou a página mudou de lugar.",
  tooManyTitle: "Um momento, por favor",
  tooManySentence: "Esta página foi aberta muitas vezes agora há pouco. Aguarde {time} e recarregue.",
  badReturnTitle: "Este link não funciona",
  badReturnSentence:
    "O aplicativo de onde você veio pediu que o enviássemos a um endereço que não conhecemos, por isso paramos. Nada aconteceu com a sua conta. Volte ao aplicativo; os responsáveis por ele podem corrigir isso.",
  backTo: "Voltar a {host}",
  badLinkSentence:
    "Falta algo no endereço, ou ele não é mais válido. Volte para onde estava, ou comece de novo.",
  linkTitle: "Falta pouco",
  linkSentence: "Pressione o botão para continuar de onde você começou.",
  linkContinue: "Continuar",
  linkElsewhereSentence:
    "Você começou em outro navegador ou aplicativo. Pressione o botão para ver o código e digite-o lá.",
  linkShowCode: "Mostrar o código",
  linkCodeTitle: "Seu código",
  linkCodeSentence:
    "Digite-o no navegador ou aplicativo em que você começou. Se você não começou nada, feche esta página e não passe o código adiante.",
  linkEndedTitle: "Este link não vale mais",
  linkEndedSentence:
    "Ele já foi usado, expirou ou foi substituído por uma mensagem mais nova. Se ainda precisar dele, peça um novo código onde você começou.",
  signOutTitle: "Sair?",
  signOutSentence:
    "Isso encerra sua sessão aqui. Aplicativos abertos com este acesso podem pedir que você entre de novo.",
  signOutButton: "Sair",
  actAsTitle: "Entrar como {name}?",
  actAsSentence:
    "Por {time}, você vê esta conta como seu titular. O que você faz é registrado com o seu nome.",
  actAsInstead:
    "Este navegador já está conectado aqui: ele passa a usar só a nova sessão, e depois você entra novamente.",
  actAsButton: "Entrar",
  actAsGoneTitle: "Este link não é mais válido",
  actAsGoneSentence:
    "Ele funciona uma vez, por um minuto, no navegador que o pediu. Comece de novo no console.",
  testTitle: "Testar o login?",
  testSentence:
    "O que o provedor informar sobre você será mostrado à pessoa que começou este teste no console. Você não entra aqui. Se não foi você quem o começou, feche esta página.",
  testButton: "Continuar",
  signedOutTitle: "Você saiu",
  signedOutSentence: "Você pode fechar esta página.",
  signedOutNext: "Em seguida, você sai também do provedor com o qual entrou.",
  signedOutOfApplications: "Você também está saindo dos seus aplicativos.",
};
