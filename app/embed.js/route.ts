import { route } from "#server/http/route";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route();
