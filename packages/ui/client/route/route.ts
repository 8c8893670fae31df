export const views = ['leases', 'timeline', 'elections', 'schedules', 'semaphores', 'groups'] as const
export type View = (typeof views)[number]

/** What the page shows, as the part of its address after `#` says. */
export type Route = { readonly view: View } | { readonly view: 'lease'; readonly name: string }

export function routeOf(hash: string): Route {
  const path = hash.replace(/^#\/?/, '')
  if (path.startsWith('lease/')) return { view: 'lease', name: decoded(path.slice('lease/'.length)) }
  return { view: views.find((view) => view === path) ?? 'leases' }
}

export function hrefOf(view: View): string {
  return view === 'leases' ? '#/' : `#/${view}`
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
