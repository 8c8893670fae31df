import type { LeaseStore } from '@leasehold/core'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { Random } from '../random.js'

/** The operations of a store that can be disturbed. Watches are not: a lease needs none. */
export type StoreOperation = Exclude<
  keyof LeaseStore,
  'limits' | 'closed' | 'kind' | 'list' | 'watch' | 'watchGrant' | 'probe' | 'close'
>

/** The fault of one call of a store. */
export type Fault =
  /** It reaches the store `duration` milliseconds late. */
  | { readonly kind: 'delay'; readonly duration: number }
  /**
   * The store executes the call at once, and answers `duration` milliseconds late: also to a caller that has given up, like
   * a client that cannot cancel.
   */
  | { readonly kind: 'answer-late'; readonly duration: number }
  /** The call never reaches the store, and fails. */
  | { readonly kind: 'fail-before'; readonly error?: Error }
  /** The store executes the call, and the call fails: the answer is lost. */
  | { readonly kind: 'fail-after'; readonly error?: Error }
  /** There is no answer until the caller gives up; `applied`: the store executes the call. */
  | { readonly kind: 'hang'; readonly applied?: boolean }
  /**
   * There is no answer until the caller gives up. The request still reaches the store, `duration` milliseconds after it was
   * sent: as a duplicate, if the caller has repeated it meanwhile.
   */
  | { readonly kind: 'arrive-late'; readonly duration: number }
  /** The call reaches the store twice; the caller gets the first outcome, after both. */
  | { readonly kind: 'duplicate' }
  /** The call reaches the store only after the next call of any method was answered. */
  | { readonly kind: 'reorder' }

/** One call, as a plan of faults sees it. */
export interface CallDescription {
  readonly operation: StoreOperation
  /** The lease name; `undefined` for operations on many. */
  readonly name: string | undefined
  /** Counts the calls of the store from 1. */
  readonly count: number
}

/** Decides on the fault of a call; `undefined`: none. */
export type FaultPlan = (call: CallDescription) => Fault | undefined

export interface SeededFaultOptions {
  /** How many of the calls are disturbed, from 0 to 1; a fifth unless given. */
  readonly rate?: number | undefined
  /** The possible faults; all by default. */
  readonly kinds?: readonly Fault['kind'][] | undefined
  /** The longest delay, in milliseconds; 1,000 unless given. */
  readonly longestDelay?: number | undefined
}

const everything: readonly Fault['kind'][] = [
  'delay',
  'answer-late',
  'fail-before',
  'fail-after',
  'hang',
  'arrive-late',
  'duplicate',
  'reorder',
]

/** Faults at random, the same for the same seed and the same order of calls. */
export function seededFaults(seed: number, options: SeededFaultOptions = {}): FaultPlan {
  checkOptionNames<SeededFaultOptions>('seededFaults', options, { rate: true, kinds: true, longestDelay: true })
  const { rate = 0.2, kinds = everything, longestDelay = 1_000 } = options
  const random = new Random(seed)
  return () => {
    // The numbers are drawn for each call, with or without a fault: the faults of one call do not shift those of others.
    const [whether, which, how] = [random.next(), random.next(), random.next()]
    const kind = kinds[Math.floor(which * kinds.length)]
    if (whether >= rate || kind === undefined) return undefined
    if (kind === 'delay' || kind === 'answer-late' || kind === 'arrive-late')
      return { kind, duration: Math.ceil(how * longestDelay) }
    return kind === 'hang' ? { kind, applied: how < 0.5 } : { kind }
  }
}
