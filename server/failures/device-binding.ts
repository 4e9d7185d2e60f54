/** Why a session cookie came without its bound cookie, by what the browser says (DBSC, 9.5), and what that means. */
export const bindingRejections = {
  missing:
    "The request says nothing of it: the session cookie was copied from its browser, or its bound cookie deleted.",
  quota_exceeded: "It says that the browser has renewed bound cookies too often.",
  unreachable: "It says that the browser could not reach the service to renew the bound cookie.",
  server_error: "It says that the service has answered the renewal with an error.",
} as const;

export type BindingRejection = keyof typeof bindingRejections;
