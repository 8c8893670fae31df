/** The faults of a client of the store. */
export const nonsenseKinds = [
  /** Answers with something of another shape: a field that is missing, or is of another type. */
  'garbled',
  /** Answers with a value that looks like a confirmation, without a request to the server. */
  'agreeing',
  /** Rejects with a value that cannot be converted to a string. */
  'unprintable',
  /** Throws before it returns a promise, or returns no promise. */
  'thrown',
  /** Answers by a thenable that settles twice. */
  'twice',
  /** Never answers, even if the call is aborted. */
  'never',
] as const

/** The fault of a client of the store. */
export type NonsenseKind = (typeof nonsenseKinds)[number]

/** The code of a user that a lease calls. */
export type UserPart = 'strategy' | 'random' | 'logger' | 'callback'

/** The fault of user code. A callback with `nonsense` returns a promise that rejects. */
export type Misdeed = 'throws' | 'nonsense'

/** A span of true time, in milliseconds from the beginning of the run. */
export interface FaultSpan {
  readonly at: number
  readonly for: number
}

/** A fault of a simulation, with its time; nodes are numbered from 0. */
export type PlannedFault =
  /** The process is killed, and restarted afterwards. */
  | (FaultSpan & { readonly kind: 'crash'; readonly node: number })
  /** The process stops while its clocks continue: a garbage collection, SIGSTOP. */
  | (FaultSpan & { readonly kind: 'pause'; readonly node: number })
  /** The machine is suspended: its timers and its monotonic clock stop. */
  | (FaultSpan & { readonly kind: 'suspend'; readonly node: number })
  /** Messages between the node and the store vanish, in one direction or in both. */
  | (FaultSpan & {
      readonly kind: 'partition'
      readonly node: number
      readonly direction: 'both' | 'to-store' | 'from-store'
    })
  /** The network of a node delays messages by up to `longest` milliseconds, and loses all in the second half. */
  | (FaultSpan & { readonly kind: 'fading'; readonly node: number; readonly longest: number })
  /** Each message vanishes with this probability. */
  | (FaultSpan & { readonly kind: 'loss'; readonly probability: number })
  /** Each message is delayed by up to `longest` milliseconds, so that messages overtake each other. */
  | (FaultSpan & { readonly kind: 'delay'; readonly longest: number })
  /** Each message arrives twice with this probability, the second time up to `longest` milliseconds later. */
  | (FaultSpan & { readonly kind: 'duplication'; readonly probability: number; readonly longest: number })
  /** The store does not answer. It keeps its confirmed writes and resets its connections. */
  | (FaultSpan & { readonly kind: 'store-restart' })
  /** The wall clock of a machine is set. */
  | { readonly kind: 'wall-step'; readonly at: number; readonly node: number; readonly by: number }
  /** An operator breaks the lease, with the rest of its ttl as the period. */
  | { readonly kind: 'break'; readonly at: number }
  /** An operator deletes the record, unless the name is held. */
  | { readonly kind: 'forget'; readonly at: number }
  /** Code that the user of a node gave to its leases on the contended name throws, or returns nonsense. */
  | (FaultSpan & {
      readonly kind: 'user-code'
      readonly node: number
      readonly part: UserPart
      readonly does: Misdeed
    })
  /** The store's client on a node gives invalid answers, each call with this probability. */
  | (FaultSpan & {
      readonly kind: 'nonsense'
      readonly node: number
      readonly answer: NonsenseKind
      readonly probability: number
    })

export type FaultKind = PlannedFault['kind']

/** The faults of machines, networks and stores: not those of operators, or of the user's own code. */
export const ambientFaults: readonly [FaultKind, ...FaultKind[]] = [
  'crash',
  'pause',
  'suspend',
  'partition',
  'fading',
  'loss',
  'delay',
  'duplication',
  'store-restart',
  'wall-step',
]

export const faultKinds: readonly [FaultKind, ...FaultKind[]] = [
  ...ambientFaults,
  'break',
  'forget',
  'user-code',
  'nonsense',
]

export function endOf(fault: PlannedFault): number {
  return 'for' in fault ? fault.at + fault.for : fault.at
}

export function describeFault(fault: PlannedFault): string {
  const span = 'for' in fault ? ` for ${Math.round(fault.for)} ms` : ''
  const node = 'node' in fault ? ` of node ${fault.node}` : ''
  switch (fault.kind) {
    case 'partition':
      return `partition${node} (${fault.direction})${span}`
    case 'fading':
      return `network${node} late by up to ${Math.round(fault.longest)} ms, then gone${span}`
    case 'loss':
      return `messages lost (${percent(fault.probability)})${span}`
    case 'delay':
      return `messages late by up to ${Math.round(fault.longest)} ms${span}`
    case 'duplication':
      return `messages twice (${percent(fault.probability)})${span}`
    case 'user-code':
      return `${fault.part}${node} ${fault.does === 'throws' ? 'throws' : 'returns nonsense'}${span}`
    case 'nonsense':
      return `answers of the store's client${node} ${fault.answer} (${percent(fault.probability)})${span}`
    case 'wall-step':
      return `wall clock${node} set by ${Math.round(fault.by)} ms`
    default:
      return `${fault.kind}${node}${span}`
  }
}

function percent(probability: number): string {
  return `${Math.round(probability * 100)} %`
}
