/**
 * What the access log tells of a request besides its address, status and times. The handlers of the request fill it in;
 * it holds identifiers and names of Stile alone, and nothing that a client entered.
 */
export interface AccessFields {
  /** Template of the path; absent outside the API. It is not logged, as the path is. */
  route?: string;
  /** The request is one of those that an open page repeats every few seconds. */
  isPoll?: boolean;
  /** Id of the tenant. */
  tenant?: string;
  /** Id of the flow. */
  flow?: string;
  flow_type?: string;
  /** The action that was asked for; absent if the request began or showed a flow. */
  action?: string;
  /** The state that was answered. */
  state?: string;
  /** Code of the error that was answered. */
  error?: string;
}

/** The fields that the line of a request has. */
export const loggedFields = ({
  route,
  isPoll,
  ...fields
}: AccessFields): Omit<AccessFields, "route" | "isPoll"> => fields;

/** The level of the line of a request: those that a page repeats by itself would hide the others. */
export const levelOf = ({ isPoll }: AccessFields): "info" | "debug" => (isPoll ? "debug" : "info");
