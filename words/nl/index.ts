import type { LanguageWords } from "../language-words.ts";
import { confirmation } from "./confirmation.ts";
import { flow } from "./flow.ts";
import { frame } from "./frame.ts";
import { mail } from "./mail.ts";
import { sms } from "./sms.ts";
import { terminal } from "./terminal.ts";

export const nl: LanguageWords = { name: "Nederlands", flow, confirmation, frame, mail, sms, terminal };
