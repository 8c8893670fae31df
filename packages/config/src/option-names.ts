import { distance } from 'fastest-levenshtein'
import { ConfigOptionError } from './config-error.js'

/** The names of all options of a type. The compiler reports a name that is missing here. */
type OptionNames<T extends object> = Readonly<Record<keyof T, unknown>>

/** The largest number of letters in which a misspelled name may differ from an option. */
const MOST_LETTERS = 2

/**
 * Throws a `ConfigOptionError` if `options` has an option that `of` does not have: a misspelled option must not be ignored.
 * The error suggests the right name. Options that are `undefined` do not count.
 */
export function checkOptionNames<T extends object>(of: string, options: T, names: OptionNames<T>): void {
  const known = Object.keys(names)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue
    const letters = name.toLowerCase().replaceAll(/[-_]/g, '')
    const meant = known.find((other) => distance(letters, other.toLowerCase()) <= MOST_LETTERS)
    const help = meant === undefined ? `its options are ${known.join(', ')}` : `did you mean '${meant}'?`
    throw new ConfigOptionError(`${of} has no option '${name}': ${help}`)
  }
}
