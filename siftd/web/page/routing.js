// Where in the page a person is: `#/<project>/<view>?key=value`, so that each thing has an address and Back works.

/** Return {project, view, query} of an address. */
export function parseRoute(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [project = "", view = ""] = path.split("/").map(decodeWhole);
  return { project, view, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Return the address of a view; what is empty is left out. */
export function link(project, view, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  return `#/${encodeURIComponent(project)}/${view}` + (given.length ? "?" + new URLSearchParams(given) : "");
}

export const go = (address) => { location.hash = address; };

function decodeWhole(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
