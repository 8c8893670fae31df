/** The operations of a store that can be disturbed; a watch is only ever a help, and is not. */
export type StoreOperation = 'acquire' | 'renew' | 'release' | 'read' | 'change' | 'break' | 'withdraw' | 'renewMany'

/** What happens to one call of a store. */
export type Fault =
  /** It reaches the store `duration` milliseconds late. */
  | { readonly kind: 'delay'; readonly duration: number }
  /** It never reaches the store, and the caller is told of a failure. */
  | { readonly kind: 'fail-before'; readonly error?: Error }
  /** The store does what was asked, and the caller is told of a failure: the answer is lost. */
  | { readonly kind: 'fail-after'; readonly error?: Error }
  /** There is no answer until the caller gives up; `applied`: the store did what was asked. */
  | { readonly kind: 'hang'; readonly applied?: boolean }
  /** It reaches the store twice; the caller is told the first outcome, after both. */
  | { readonly kind: 'duplicate' }
  /** It reaches the store only after the next call, whatever that is, has been answered. */
  | { readonly kind: 'reorder' }

/** One call, as a plan of faults sees it. */
export interface StoreCall {
  readonly operation: StoreOperation
  /** The lease name; `undefined` for operations on many. */
  readonly name: string | undefined
  /** Counts the calls of the store from 1. */
  readonly count: number
}

/** Decides what happens to a call; `undefined`: nothing. */
export type FaultPlan = (call: StoreCall) => Fault | undefined

export interface SeededFaultOptions {
  /** How many of the calls are disturbed, from 0 to 1; a fifth unless given. */
  readonly rate?: number | undefined
  /** What may happen to them; everything unless given. */
  readonly kinds?: readonly Fault['kind'][] | undefined
  /** The longest delay, in milliseconds; 1,000 unless given. */
  readonly longestDelay?: number | undefined
}

const everything: readonly Fault['kind'][] = ['delay', 'fail-before', 'fail-after', 'hang', 'duplicate', 'reorder']

/** Faults at random, the same for the same seed and the same order of calls. */
export function seededFaults(seed: number, options: SeededFaultOptions = {}): FaultPlan {
  const { rate = 0.2, kinds = everything, longestDelay = 1_000 } = options
  const random = generator(seed)
  return () => {
    // Drawn for each call, disturbed or not: what happens to one does not shift the others.
    const [whether, which, how] = [random(), random(), random()]
    const kind = kinds[Math.floor(which * kinds.length)]
    if (whether >= rate || kind === undefined) return undefined
    if (kind === 'delay') return { kind, duration: Math.ceil(how * longestDelay) }
    return kind === 'hang' ? { kind, applied: how < 0.5 } : { kind }
  }
}

/** Numbers from 0 to 1, 1 excluded: splitmix32. */
function generator(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }
}
