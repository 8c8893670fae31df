import type { NonsenseKind } from './nonsense.js'
import type { Misdeed, UserPart } from './user-code.js'

/** A span of true time, in milliseconds from the beginning of the run. */
export interface FaultSpan {
  readonly at: number
  readonly for: number
}

/** What is done to a run, and when; nodes are numbered from 0. */
export type PlannedFault =
  /** The process dies without a word, and is started anew afterwards. */
  | (FaultSpan & { readonly kind: 'crash'; readonly node: number })
  /** The process stands still while its clocks go on: a collection of garbage, SIGSTOP. */
  | (FaultSpan & { readonly kind: 'pause'; readonly node: number })
  /** The machine is suspended: its timers and its monotonic clock stand still. */
  | (FaultSpan & { readonly kind: 'suspend'; readonly node: number })
  /** Messages between the node and the store vanish, in one direction or in both. */
  | (FaultSpan & {
      readonly kind: 'partition'
      readonly node: number
      readonly direction: 'both' | 'to-store' | 'from-store'
    })
  /** The network of a node gets slow, by up to `longest` milliseconds a message, and in the second half it is gone. */
  | (FaultSpan & { readonly kind: 'fading'; readonly node: number; readonly longest: number })
  /** Each message vanishes with this probability. */
  | (FaultSpan & { readonly kind: 'loss'; readonly probability: number })
  /** Each message comes late by up to `longest` milliseconds, so that they overtake one another. */
  | (FaultSpan & { readonly kind: 'delay'; readonly longest: number })
  /** Each message comes twice with this probability, the second time late by up to `longest` milliseconds. */
  | (FaultSpan & { readonly kind: 'duplication'; readonly probability: number; readonly longest: number })
  /** The store does not answer; what it has confirmed it keeps, who is connected to it is cut off. */
  | (FaultSpan & { readonly kind: 'store-restart' })
  /** The wall clock of a machine is set. */
  | { readonly kind: 'wall-step'; readonly at: number; readonly node: number; readonly by: number }
  /** An operator breaks the lease, with what is left of its ttl as the period. */
  | { readonly kind: 'break'; readonly at: number }
  /** An operator deletes the record, unless somebody holds the name. */
  | { readonly kind: 'forget'; readonly at: number }
  /** Code that the user of a node gave to its leases on the contended name throws, or returns nonsense. */
  | (FaultSpan & {
      readonly kind: 'user-code'
      readonly node: number
      readonly part: UserPart
      readonly does: Misdeed
    })
  /** The client of the store on a node does not answer as a store should, each call with this probability. */
  | (FaultSpan & {
      readonly kind: 'nonsense'
      readonly node: number
      readonly answer: NonsenseKind
      readonly probability: number
    })

export type FaultKind = PlannedFault['kind']

export const faultKinds: readonly [FaultKind, ...FaultKind[]] = [
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
  'break',
  'forget',
  'user-code',
  'nonsense',
]

/** When it is over. */
export function endOf(fault: PlannedFault): number {
  return 'for' in fault ? fault.at + fault.for : fault.at
}

/** In a line. */
export function describeFault(fault: PlannedFault): string {
  const span = 'for' in fault ? ` for ${Math.round(fault.for)} ms` : ''
  const who = 'node' in fault ? ` of node ${fault.node}` : ''
  switch (fault.kind) {
    case 'partition':
      return `partition${who} (${fault.direction})${span}`
    case 'fading':
      return `network${who} late by up to ${Math.round(fault.longest)} ms, then gone${span}`
    case 'loss':
      return `messages lost (${percent(fault.probability)})${span}`
    case 'delay':
      return `messages late by up to ${Math.round(fault.longest)} ms${span}`
    case 'duplication':
      return `messages twice (${percent(fault.probability)})${span}`
    case 'user-code':
      return `${fault.part}${who} ${fault.does === 'throws' ? 'throws' : 'returns nonsense'}${span}`
    case 'nonsense':
      return `answers of the store's client${who} ${fault.answer} (${percent(fault.probability)})${span}`
    case 'wall-step':
      return `wall clock${who} set by ${Math.round(fault.by)} ms`
    default:
      return `${fault.kind}${who}${span}`
  }
}

function percent(probability: number): string {
  return `${Math.round(probability * 100)} %`
}
