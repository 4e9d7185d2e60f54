export { PageLoading as default } from "./_shell/page-loading.tsx";
