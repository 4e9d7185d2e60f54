import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import type { Me } from "#server/http/console/me";
import type { AdminOperations, operations } from "../../../packages/server/src/interface.ts";

/**
 * The type of the console's router. The router is made of the operations of the administration interface, and so is its type:
 * from the same document, by the module that `@stile-auth/server` has its types from.
 */

type Names = keyof AdminOperations;

/** What each procedure takes: the input of the operation, and the tenant; default: that of the account. */
type InputOf<Name extends Names> = AdminOperations[Name]["input"] & { tenant?: string };

type Procedure<Name extends Names> = (typeof operations)[Name][0] extends "GET"
  ? TRPCQueryProcedure<{ input: InputOf<Name>; output: AdminOperations[Name]["answer"]; meta: object }>
  : TRPCMutationProcedure<{ input: InputOf<Name>; output: AdminOperations[Name]["answer"]; meta: object }>;

type Procedures = { [Name in Names]: Procedure<Name> } & {
  me: TRPCQueryProcedure<{ input: undefined; output: Me; meta: object }>;
};

/** A version of the settings of a tenant, with what it changed. */
export type SettingsVersion = AdminOperations["listSettingsHistory"]["answer"]["items"][number];

/** Errors have the reason of a refusal beside what tRPC tells. */
interface RootTypes {
  ctx: object;
  meta: object;
  errorShape: {
    message: string;
    code: number;
    data: {
      code: string;
      httpStatus: number;
      path?: string;
      reason?: RefusalReason;
      /** With `changed_since`: the newest first. */
      changes?: SettingsVersion[];
    };
  };
  transformer: false;
}

/**
 * Why a call was refused: before its operation was asked, because it would lock accounts of the console out, or because
 * another change was made since the version that it was made of.
 */
export type RefusalReason =
  | "signed_out"
  | "forbidden"
  | "not_found"
  | "step_up_required"
  | "key_required"
  | "locks_out"
  | "changed_since";

export type ConsoleRouter = TRPCBuiltRouter<RootTypes, Procedures>;
