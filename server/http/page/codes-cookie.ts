/** Whether a cookie holds recovery codes; the page that displays them removes it. */
export function isCodesCookie(name: string): boolean {
  return /^(?:__Host-)?stile-codes-/.test(name);
}
