// Who this page is to the server: a token, handed over once at the login and kept for this tab alone.
//
// It comes in an island of inert JSON inside the page that answers the login. sessionStorage is shared with no other
// tab and no other port; a cookie would be.

const KEY = "siftd.token";
const PLACE = "siftd.place";

/** Take the token out of the page that the login answered, if this is that page. */
export function takeToken() {
  const island = document.getElementById("token");
  if (!island) {
    if (wasSpent()) history.replaceState(null, "", "/");
    return;
  }
  sessionStorage.setItem(KEY, JSON.parse(island.textContent));
  island.remove();
  history.replaceState(null, "", "/" + (location.hash || sessionStorage.getItem(PLACE) || ""));
  sessionStorage.removeItem(PLACE);
}

/** Whether this is the answer to a code that was spent or too old. */
export const wasSpent = () => document.getElementById("spent") !== null;

export const readToken = () => sessionStorage.getItem(KEY);

/** Forget a token that the server knows no more: a process that was started anew has another one. */
export const dropToken = () => sessionStorage.removeItem(KEY);

/** Where a person wanted to be when they had to log in: the login brings them there. */
export const keepPlace = () => { if (location.hash) sessionStorage.setItem(PLACE, location.hash); };
