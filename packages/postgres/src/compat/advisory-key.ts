import { checkOptionNames } from '@leasehold/core/store-kit'
import { misconfigured } from '../postgres-options.js'
import { jsonLiteral, toColumn } from '../sql-text.js'

/**
 * The key of an advisory lock: a `bigint` or a whole number, two numbers of 32 bits, or a text, which stands for
 * `hashtext(text)`.
 */
export type AdvisoryKey = bigint | number | readonly [number, number] | string

/** The advisory locks that other processes use while they are replaced. */
export interface PostgresCompat {
  readonly library: 'pg-advisory-lock'
  /** The key for what this lease protects; `hashtext(leaseName)` unless given. */
  readonly key?: ((leaseName: string) => AdvisoryKey) | undefined
}

const INT4 = 2n ** 31n
const INT8 = 2n ** 63n

/** The keys of the advisory locks that a store holds beside its leases. */
export class AdvisoryKeys {
  readonly #key: (leaseName: string) => AdvisoryKey

  /** Throws a `LeaseConfigurationError` for an unknown library or option. */
  constructor(compat: PostgresCompat['library'] | PostgresCompat) {
    const given: PostgresCompat = typeof compat === 'string' ? { library: compat } : compat
    if (typeof given !== 'object' || given?.library !== 'pg-advisory-lock') {
      throw misconfigured(`compat must be pg-advisory-lock, not ${JSON.stringify(given?.library ?? given)}`)
    }
    checkOptionNames<PostgresCompat>('compat', given, { library: true, key: true }, { store: 'postgres' })
    const { key = (leaseName: string) => leaseName } = given
    if (typeof key !== 'function') {
      throw misconfigured('key of compat must be a function that returns the key of a lease name')
    }
    this.#key = key
  }

  /** The arguments of `pg_try_advisory_lock`. Throws a `LeaseConfigurationError` if the user's function fails. */
  argumentsOf(leaseName: string): string {
    const key = this.#keyOf(leaseName)
    if (Array.isArray(key)) {
      if (key.length === 2 && key.every((part) => isWithin(part, INT4))) return `${key[0]}::int, ${key[1]}::int`
    } else if (typeof key === 'string') return `hashtext((${jsonLiteral(toColumn(key))}::json #>> '{}')::text)::bigint`
    else if (isWithin(key, INT8)) return `'${key}'::bigint`
    const shown = typeof key === 'bigint' ? key : JSON.stringify(key)
    throw misconfigured(
      `key of compat must return a bigint, two numbers of 32 bits or a text for the lease '${leaseName}', not ${shown}`,
    )
  }

  #keyOf(leaseName: string): unknown {
    try {
      return this.#key(leaseName)
    } catch (cause) {
      throw misconfigured(`key of compat threw for the lease '${leaseName}'`, cause)
    }
  }
}

function isWithin(value: unknown, limit: bigint): boolean {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return false
  const whole = BigInt(value as bigint | number)
  return whole >= -limit && whole < limit
}
