import { ConfigOptionError } from './config-error.js'

/** How much a configuration may ask for; what goes beyond ends in a `ConfigLimitError`. */
export interface ConfigLimits {
  /** The characters of one text, and of one string that is put together; 16 Mi unless given. */
  readonly maxLength?: number | undefined
  /** How deep objects, lists and chains of substitutions may be nested; 200 unless given, 400 at most. */
  readonly maxDepth?: number | undefined
  /** The values of the whole configuration, substitutions filled in; 1,000,000 unless given. */
  readonly maxValues?: number | undefined
  /** How many files may be included in all; 1,000 unless given. */
  readonly maxIncludes?: number | undefined
}

/** All limits, each given. */
export type Limits = { readonly [Limit in keyof ConfigLimits]-?: number }

const defaults: Limits = { maxLength: 16 * 1024 * 1024, maxDepth: 200, maxValues: 1_000_000, maxIncludes: 1_000 }

/** Deeper than this the stack of the smallest thread would not reach. */
const DEEPEST = 400

/** The limits with their defaults; throws a `ConfigOptionError` for one that is no good. */
export function limitsOf(given: ConfigLimits = {}): Limits {
  const limits = { ...defaults }
  for (const name of Object.keys(defaults) as (keyof Limits)[]) {
    const limit = given[name]
    if (limit === undefined) continue
    const most = name === 'maxDepth' ? DEEPEST : Number.MAX_SAFE_INTEGER
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > most) {
      throw new ConfigOptionError(`${name} must be an integer of 1 to ${most}, not ${String(limit)}`)
    }
    limits[name] = limit
  }
  return limits
}

/** Whether an error says that the stack is used up: a limit that was set too high for the thread. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message)
}
