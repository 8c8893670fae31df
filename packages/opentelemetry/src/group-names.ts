/** A UUID, a hexadecimal word of at least 8 characters with a digit in it, or digits. */
const VARIABLE =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9a-z])|[0-9]+/gi

/** The group of all names past the largest number of groups. */
const OTHERS = '*'

/** Calls user code and answers with its result; `undefined` if it throws. */
export type Guard = <T>(call: () => T) => T | undefined

/**
 * Groups of names, of which there are few: a metrics system keeps a time series for each value of an attribute. By default,
 * the digits, UUIDs and hashes in a name become `*`. There are at most `largest` groups; a name that would make another one gets the group `*`.
 */
export class GroupNames {
  readonly #groupOf: (name: string) => unknown
  readonly #largest: number
  readonly #guard: Guard
  readonly #known = new Set<string>()

  constructor(groupOf: ((name: string) => string | undefined) | undefined, largest: number, guard: Guard) {
    this.#groupOf = groupOf ?? collapsed
    this.#largest = largest
    this.#guard = guard
  }

  /** The group of a name; `undefined` if the function of the user throws or returns anything but a string. */
  of(name: string): string | undefined {
    const group = this.#guard(() => this.#groupOf(name))
    if (typeof group !== 'string') return undefined
    if (this.#known.has(group)) return group
    if (this.#known.size >= this.#largest) return OTHERS
    this.#known.add(group)
    return group
  }
}

/** The name with its digits, UUIDs and hashes as `*`: `invoice-4711` becomes `invoice-*`. */
export function collapsed(name: string): string {
  return name.replace(VARIABLE, '*')
}
