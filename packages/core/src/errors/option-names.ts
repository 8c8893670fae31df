import { LeaseConfigurationError } from './lease-configuration-error.js'
import type { LeaseErrorDetails } from './lease-error.js'
import { ownNameFor, suggestionFor } from './suggestion.js'

/** The names of all options of a type. The compiler reports a name that is missing here. */
export type OptionNames<T extends object> = Readonly<Record<keyof T, true>>

/**
 * Throws a `LeaseConfigurationError` if `options` has an option that `of` does not have: a misspelled option must not be
 * ignored. The error suggests the right name. Options that are `undefined` do not count.
 */
export function checkOptionNames<T extends object>(
  of: string,
  options: T,
  names: OptionNames<T>,
  details: LeaseErrorDetails = {},
): void {
  const fault = faultOfNames(of, options, Object.keys(names))
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
}

/**
 * The reason why `options` has an unknown option; `undefined` if it has none. `tolerant`: only an option that looks like a
 * misspelled one counts.
 */
export function faultOfNames(
  of: string,
  options: object,
  names: readonly string[],
  tolerant = false,
): string | undefined {
  for (const name of Object.keys(options)) {
    if (names.includes(name) || (options as Record<string, unknown>)[name] === undefined) continue
    const meant = suggestionFor(name, names) ?? ownNameFor(name, names)
    if (meant === undefined && tolerant) continue
    const help = meant === undefined ? `its options are ${names.join(', ')}` : `did you mean '${meant}'?`
    return `${of} has no option '${name}': ${help}`
  }
  return undefined
}
