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
};
