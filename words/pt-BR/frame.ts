import type { FrameWords } from "../frame.ts";

export const frame: FrameWords = {
  needsWindow: "Seu navegador não guarda nada para esta parte da página. Continue em uma janela própria.",
  openWindow: "Continuar em uma janela",
  waiting: "Continue na janela que se abriu.",
  showWindow: "Mostrar a janela",
  cancel: "Cancelar",
  blocked: "Seu navegador bloqueou a janela. Permita-a e tente novamente.",
  covered: "Algo está sobre este formulário, por isso seu clique foi ignorado. Feche o que o cobre.",
  tooSmall:
    "Este formulário está pequeno demais para ser usado com segurança, por isso seu clique foi ignorado. Aumente a janela.",
  closeWindow: "Você já pode fechar esta janela.",
  refusedTitle: "Isto não pode ser mostrado aqui",
  refusedSentence: "A página que mostra este acesso não é conhecida pelo serviço. Avise quem a administra.",
};
