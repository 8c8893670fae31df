import { pathIn } from '@leasehold/core/internal'

/** The place of a request below the page. */
export interface Place {
  /** Empty for the page itself. `undefined`: the request is for another path. */
  readonly place: string | undefined
  /** Where the page is, if the request lacks the slash at the end: relative to the request. */
  readonly redirect: string | undefined
}

/** The characters of a path that a header can have, without the slash. */
const SEGMENT = /^[\w.~%!$&'()*+,;=:@-]+$/

const elsewhere: Place = { place: undefined, redirect: undefined }

/**
 * Finds the place of a request. `path`: of the option, without a slash at its end. `url`: as the server has it, maybe without the
 * front that the server has matched. `fullUrl`: as the client has sent it, where the server has kept it.
 */
export function placeOf(
  path: string,
  url: string | undefined,
  fullUrl: string | undefined,
  isStripped: boolean,
): Place {
  const given = pathWithoutOrigin(url)
  const full = fullUrl === undefined ? given : pathWithoutOrigin(fullUrl)
  const found = below(path, full) ?? below(path, given)
  if (found !== undefined) return placed(found, full)
  // The server has taken the front off, which is the path of the page.
  if (isStripped && given.startsWith('/')) return placed(given, full)
  return elsewhere
}

/** The rest of a path after that of the page: empty, or it begins with a slash. */
function below(path: string, full: string): string | undefined {
  if (!full.startsWith(path)) return undefined
  const rest = full.slice(path.length)
  return rest === '' || rest.startsWith('/') ? rest : undefined
}

function placed(rest: string, full: string): Place {
  if (rest.length > 1) return { place: rest.slice(1), redirect: undefined }
  if (full.endsWith('/')) return { place: '', redirect: undefined }
  const last = full.slice(full.lastIndexOf('/') + 1)
  return SEGMENT.test(last) ? { place: '', redirect: `./${last}/` } : elsewhere
}

/** The path of a request: a client of a proxy sends a whole address. */
function pathWithoutOrigin(url: string | undefined): string {
  return pathIn(url).replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/'
}
