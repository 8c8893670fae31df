import type { EngineEffect, EngineEvent, EngineState, LeaseRules } from '@leasehold/core/internal'
import type { MachineEvent } from './machine-watch.js'
import type { Readings } from './reading-context.js'

/**
 * The numbers of an entry: the instant, the suspended time, the flags with the number of draws, the draws, and the numbers of
 * the state before a heartbeat was confirmed.
 */
const WIDTH = 14
const FIRST_DRAW = 3
const FIRST_STATE = 8
const MOST_DRAWS = FIRST_STATE - FIRST_DRAW

/** The first two bits are the flags of the readings, and the next two the kind of an ordinary heartbeat. */
const READ_BITS = 4
const ORDINARY = 4
const CONFIRMED = 8
const FLAG_BITS = 16

/** One event of a lease, and what the transition function read. */
export interface LeaseEntry {
  readonly at: number
  /** The number of the lease in this recorder. */
  readonly lease: number
  readonly event: EngineEvent
  /** `undefined` for an ordinary heartbeat: `beforeHeartbeat` makes it from the state after it. */
  readonly before: EngineState | undefined
  /** The numbers of the state before, where a heartbeat was confirmed. */
  readonly numbers: ArrayLike<number>
  readonly rules: LeaseRules
  readonly effects: readonly Pick<EngineEffect, 'type'>[]
  readonly readings: Readings
}

/** An event of the machine. */
interface MachineEntry {
  readonly at: number
  readonly machine: MachineEvent
}

export type RingEntry = LeaseEntry | MachineEntry

/** The last entries, in memory of a fixed size: the numbers in one array, the rest by reference to what exists anyway. */
export class Ring {
  readonly #size: number
  readonly #numbers: Float64Array
  readonly #leases: Int32Array
  readonly #events: (EngineEvent | MachineEvent)[]
  readonly #befores: (EngineState | undefined)[]
  readonly #rules: (LeaseRules | undefined)[]
  readonly #effects: (readonly EngineEffect[] | undefined)[]
  /** The draws of the few entries that have more than a slot has room for. */
  readonly #more = new Map<number, readonly number[]>()
  #next = 0
  #count = 0

  constructor(size: number) {
    this.#size = size
    this.#numbers = new Float64Array(size * WIDTH)
    this.#leases = new Int32Array(size)
    this.#events = []
    this.#befores = []
    this.#rules = []
    this.#effects = []
  }

  /** How many entries were overwritten. */
  get overwritten(): number {
    return Math.max(0, this.#count - this.#size)
  }

  pushLease(
    lease: number,
    at: number,
    event: EngineEvent,
    before: EngineState,
    after: EngineState,
    rules: LeaseRules,
    effects: readonly EngineEffect[],
    { suspended, flags, draws, count }: Readings,
  ): void {
    const slot = this.#take(at)
    this.#leases[slot] = lease
    this.#rules[slot] = rules
    const numbers = this.#numbers
    const first = slot * WIDTH
    let kind = 0
    // To keep the states of 100,000 heartbeats would cost more than to make them.
    if (isOrdinary(event, before, after, effects)) {
      kind = ORDINARY
      if (before.call !== undefined) {
        kind += CONFIRMED
        const { confirmedAt, validUntil, suspended: counted, heartbeatAt, attemptTimeout, call } = before
        numbers[first + FIRST_STATE] = confirmedAt
        numbers[first + FIRST_STATE + 1] = validUntil
        numbers[first + FIRST_STATE + 2] = counted
        numbers[first + FIRST_STATE + 3] = heartbeatAt
        numbers[first + FIRST_STATE + 4] = attemptTimeout
        numbers[first + FIRST_STATE + 5] = call.limitAt
      }
    } else {
      this.#events[slot] = event
      this.#befores[slot] = before
      this.#effects[slot] = effects
    }
    numbers[first + 1] = suspended
    numbers[first + 2] = flags + kind + FLAG_BITS * count
    if (count > MOST_DRAWS) this.#more.set(slot, [...draws.slice(0, count)])
    else for (let draw = 0; draw < count; draw += 1) numbers[first + FIRST_DRAW + draw] = draws[draw] as number
  }

  pushMachine(at: number, event: MachineEvent): void {
    const slot = this.#take(at)
    this.#leases[slot] = -1
    this.#events[slot] = event
    this.#befores[slot] = undefined
    this.#rules[slot] = undefined
    this.#effects[slot] = undefined
  }

  /** In the order in which they came. */
  *entries(): Generator<RingEntry> {
    const kept = Math.min(this.#count, this.#size)
    for (let age = kept; age > 0; age -= 1) yield this.#at((this.#next - age + this.#size) % this.#size)
  }

  #take(at: number): number {
    const slot = this.#next
    this.#next = slot + 1 === this.#size ? 0 : slot + 1
    this.#count += 1
    this.#numbers[slot * WIDTH] = at
    if (this.#more.size > 0) this.#more.delete(slot)
    return slot
  }

  #at(slot: number): RingEntry {
    const first = slot * WIDTH
    const [at = 0, suspended = 0, packed = 0] = this.#numbers.subarray(first, first + FIRST_DRAW)
    const lease = this.#leases[slot] ?? -1
    if (lease < 0) return { at, machine: this.#events[slot] as MachineEvent }
    const count = Math.floor(packed / FLAG_BITS)
    const isOrdinary = (packed & ORDINARY) !== 0
    const isConfirmed = (packed & CONFIRMED) !== 0
    const start = first + FIRST_DRAW
    const draws = this.#more.get(slot) ?? this.#numbers.slice(start, start + count)
    return {
      at,
      lease,
      event: isOrdinary ? { type: isConfirmed ? 'confirmed' : 'tick' } : (this.#events[slot] as EngineEvent),
      before: isOrdinary ? undefined : this.#befores[slot],
      numbers: this.#numbers.slice(first + FIRST_STATE, first + WIDTH),
      rules: this.#rules[slot] as LeaseRules,
      effects: isOrdinary ? [{ type: isConfirmed ? 'renewed' : 'call' }] : (this.#effects[slot] ?? []),
      readings: { suspended, flags: packed % READ_BITS, draws, count },
    }
  }
}

type HeldState = Extract<EngineState, { readonly phase: 'held' | 'jeopardy' }>

/** Whether a heartbeat was sent, or was confirmed, and nothing else happened: its state before follows from the one after it. */
function isOrdinary(
  { type }: EngineEvent,
  before: EngineState,
  after: EngineState,
  effects: readonly EngineEffect[],
): before is HeldState {
  if (type !== 'tick' && type !== 'confirmed') return false
  if (before.phase !== 'held' || after.phase !== 'held' || effects.length !== 1) return false
  if (before.update !== undefined || before.changed !== undefined || before.hasOtherTtl !== undefined) return false
  if (before.failures > 0 || before.failure !== undefined || before.grant !== after.grant) return false
  if (before.call === undefined) return after.call?.method === 'renew' && after.op === before.op + 1
  const { method, isOverdue } = before.call
  if (method !== 'renew' || isOverdue !== undefined || after.call !== undefined || after.op !== before.op) return false
  return effects[0]?.type === 'renewed' && after.holdUntil === before.holdUntil && after.hasStray === before.hasStray
}

/** The state before an ordinary heartbeat was sent or confirmed. */
export function beforeHeartbeat({ numbers }: LeaseEntry, after: EngineState): EngineState {
  if (after.phase !== 'held') return after
  if (after.call !== undefined) return { ...after, op: after.op - 1, call: undefined }
  const [confirmedAt = 0, validUntil = 0, suspended = 0, heartbeatAt = 0, attemptTimeout = 0, limitAt = 0] =
    Array.from(numbers)
  const call = { method: 'renew', sentAt: after.confirmedAt, limitAt } as const
  return { ...after, confirmedAt, validUntil, suspended, heartbeatAt, attemptTimeout, call }
}
