// @ts-check
/** The server's token, from the page's own address (`#token=` or `?token=`), and off it again. */

/** @returns {string | null} */
export function takeToken() {
  const url = new URL(location.href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  const token = fragment.get("token") ?? url.searchParams.get("token");
  if (token === null) return null;
  fragment.delete("token");
  url.searchParams.delete("token");
  url.hash = fragment.toString();
  history.replaceState(history.state, "", url);
  return token || null;
}
