export const views = ['leases', 'timeline', 'elections', 'schedules', 'semaphores', 'groups'] as const
export type View = (typeof views)[number]

/** The view that the page shows: it stands in its address after `#`. */
export type Route = { readonly view: View } | { readonly view: 'lease'; readonly name: string }

export function routeOf(hash: string): Route {
  const path = hash.replace(/^#\/?/, '')
  if (path.startsWith('lease/')) return { view: 'lease', name: decoded(path.slice('lease/'.length)) }
  const [start] = path.split('?')
  return { view: views.find((view) => view === start) ?? 'leases' }
}

export function hrefOf(view: View): string {
  return view === 'leases' ? '#/' : `#/${view}`
}

/** How the reader looks at the list, with the question mark; empty if the address does not say it. */
export function queryIn(hash: string): string {
  const start = hash.indexOf('?')
  return start < 0 || routeOf(hash).view === 'lease' ? '' : hash.slice(start)
}

export function leaseHref(name: string): string {
  // Half of a pair of surrogates has no encoding.
  return `#/lease/${encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\u{fffd}'))}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Somebody typed it: a percent sign of its own stands for itself.
    return text
  }
}
