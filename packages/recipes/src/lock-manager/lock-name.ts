/**
 * The lease name of a lock. A name that ends in a slash and a number would be that of a slot of another lock, so that its last
 * slash is escaped.
 */
export function leaseNameOf(prefix: string, lock: string): string {
  return `${prefix}/${lock.replaceAll('%', '%25').replace(/\/(?=\d+$)/, '%2F')}`
}

/** The record of a lock manager that has this lease name; `undefined` if it is none. */
export function recordOf(
  prefix: string,
  leaseName: string,
): { readonly lock: string; readonly isSlot: boolean } | undefined {
  if (!leaseName.startsWith(`${prefix}/`)) return undefined
  const escaped = leaseName.slice(prefix.length + 1)
  const slot = /\/\d+$/.exec(escaped)
  const name = slot === null ? escaped : escaped.slice(0, slot.index)
  const lock = name.replaceAll(/%(25|2F)/g, (_, code) => (code === '25' ? '%' : '/'))
  return { lock, isSlot: slot !== null }
}
