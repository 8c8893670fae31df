import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

/** A value that users give in the place of the options: the option that takes it, as code, and how it is recognised. */
export type Misplaced = readonly [option: string, isIt: (given: unknown) => boolean]

/**
 * Throws a `LeaseConfigurationError` if a client or an address is given in the place of the options `of` a function. Its
 * properties are no options, or it has none: all options would then have their defaults.
 */
export function checkMisplaced(of: string, given: unknown, places: readonly Misplaced[], store: string): void {
  const option = places.find(([, isIt]) => isIt(given))?.[0]
  if (option === undefined) return
  throw new LeaseConfigurationError(`${of} takes an object with options: give { ${option} }`, { store })
}

/** Whether a value has these methods or objects, as a client of some library has. */
export function hasParts(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => {
    const part: unknown = Object(value)[name]
    return typeof part === 'function' || (typeof part === 'object' && part !== null)
  })
}
