import { ConfigLimitError, ConfigOptionError } from './config-error.js'
import { checkOptionNames } from './option-names.js'

/** Limits of a configuration. Exceeding one throws a `ConfigLimitError`. */
export interface ConfigLimits {
  /** Maximum number of characters in one text, and in one concatenated string. Default: 16 Mi. */
  readonly maxLength?: number | undefined
  /** Maximum nesting of objects, lists and substitutions. Default: 200; at most 400. */
  readonly maxDepth?: number | undefined
  /** Maximum number of values in the configuration after substitution. Default: 1,000,000. */
  readonly maxValues?: number | undefined
  /** Maximum number of included files in total. Default: 1,000. */
  readonly maxIncludes?: number | undefined
}

/** The limits, with all defaults filled in. */
export type Limits = { readonly [Limit in keyof ConfigLimits]-?: number }

const defaults: Limits = { maxLength: 16 * 1024 * 1024, maxDepth: 200, maxValues: 1_000_000, maxIncludes: 1_000 }

/** A deeper nesting can overflow the stack of a worker thread. */
const DEEPEST = 400

/** Fills in the defaults. Throws a `ConfigOptionError` if a limit is unknown or invalid. */
export function limitsOf(given: ConfigLimits = {}): Limits {
  checkOptionNames('limits', given, defaults)
  const limits = { ...defaults }
  for (const name of Object.keys(defaults) as (keyof Limits)[]) {
    const limit = given[name]
    if (limit === undefined) continue
    const most = name === 'maxDepth' ? DEEPEST : Number.MAX_SAFE_INTEGER
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > most) {
      throw new ConfigOptionError(`${name} must be an integer from 1 to ${most}, not ${String(limit)}`)
    }
    limits[name] = limit
  }
  return limits
}

/** Does the work. Turns a stack overflow into a `ConfigLimitError`: `maxDepth` is too high for the stack of this thread. */
export function withinStack<T>(subject: string, source: string | undefined, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RangeError) || !/call stack/i.test(error.message)) throw error
    const origin = source === undefined ? undefined : { source, line: 0, column: 0 }
    throw new ConfigLimitError(`${subject} is nested too deep for the stack of this thread: lower maxDepth`, origin)
  }
}
