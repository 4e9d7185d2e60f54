import type { LanguageWords } from "../language-words.ts";
import { confirmation } from "./confirmation.ts";
import { flow } from "./flow.ts";
import { mail } from "./mail.ts";

export const ptBR: LanguageWords = { name: "Português (Brasil)", flow, confirmation, mail };
