import { type Grant, type LeaseStore, systemClock } from '@leasehold/core'
import { Deferred, type SharedTime } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { KeptDeadline } from './kept-deadline.js'
import type { KeptSlots } from './kept-slots.js'
import type { KeepSpec, Refusal, StoreMethod } from './thread-messages.js'

/** How often the thread looks whether a heartbeat is due, in milliseconds; more often for grants that are short. */
const LONGEST_LOOK = 250
const SHORTEST_LOOK = 5
/** How many looks there are from the instant at which a heartbeat of the user is late to the end of the validity. */
const LOOKS = 8

/** However late a heartbeat is planned, one attempt is made within this part of the validity. */
const LATEST = 0.95

/** How long after a failed heartbeat the next one is sent, in milliseconds. */
const LONGEST_RETRY = 1_000
const SHORTEST_RETRY = 10

/** How many grants are renewed by one call. */
const LARGEST_BATCH = 512

/** A grant that is kept. Instants are on the shared time. */
interface Kept extends KeepSpec {
  readonly from: LeaseStore
  /** How long the thread waits for a confirmed heartbeat before it sends one itself, in milliseconds. */
  readonly pause: number
  readonly deadline: KeptDeadline | undefined
  confirmedAt: number
  attemptedAt: number
  /** Whether the thread made the last attempt, and it failed. */
  hasFailed: boolean
  /** The call of the user that is under way, and until when the thread waits for it. */
  call: AbortableCall | undefined
  callUntil: number
  /** The heartbeat of the thread that is under way. */
  own: Deferred<void> | undefined
  ownCall: AbortableCall | undefined
}

/**
 * Renews grants whose user sends no heartbeat in time, because its event loop is blocked. As long as the user sends the
 * heartbeats, they pass through here, and the keeper sends none. One operation is under way for each grant: an operation of the
 * user waits for that of the keeper.
 */
export class Keeper {
  readonly #time: SharedTime
  readonly #slots: KeptSlots
  readonly #onRefused: (slot: number, outcome: Refusal) => void
  readonly #kept = new Map<number, Kept>()
  /** The kept grants by their grant ids. */
  readonly #byGrant = new Map<string, Kept>()
  #isLooking = false

  constructor(time: SharedTime, slots: KeptSlots, onRefused: (slot: number, outcome: Refusal) => void) {
    this.#time = time
    this.#slots = slots
    this.#onRefused = onRefused
  }

  keep(spec: KeepSpec, store: LeaseStore): void {
    const { slot, validity, timeout, heartbeatAfter: after, grant, confirmedAt } = spec
    const planned = after > 0 ? Math.min(after, LATEST * validity) : validity / 2
    const kept: Kept = {
      ...spec,
      from: store,
      pause: planned + Math.min(timeout, (validity - planned) / 4),
      deadline: spec.fence && new KeptDeadline(spec.fence, () => this.#slots.isEnded(slot)),
      attemptedAt: confirmedAt,
      hasFailed: false,
      call: undefined,
      callUntil: 0,
      own: undefined,
      ownCall: undefined,
    }
    this.#kept.set(slot, kept)
    this.#byGrant.set(grant.grantId, kept)
    if (!this.#isLooking) this.#look()
  }

  unkeep(slot: number): void {
    const kept = this.#kept.get(slot)
    if (kept !== undefined) this.#forget(kept)
  }

  /** Makes a call of the user. The answers to its heartbeats count for the keeper too. */
  async pass(method: StoreMethod, args: readonly unknown[], call: AbortableCall, ask: () => Promise<unknown>) {
    const grants = grantsOf(method, args).map(({ grantId }) => this.#byGrant.get(grantId))
    if (grants.every((kept) => kept === undefined)) return await ask()
    const leaves = method === 'release' || method === 'change'
    for (const kept of grants) if (leaves && kept !== undefined) this.#forget(kept)
    await Promise.all(grants.map((kept) => kept?.own?.promise))
    if (call.aborted) throw call.signal.reason
    const sentAt = this.#time.now()
    for (const kept of grants) if (kept !== undefined) Object.assign(kept, { call, callUntil: sentAt + call.timeout })
    const outcomes: unknown[] = []
    try {
      const answer = await ask()
      if (isHeartbeat(method)) outcomes.push(...(Array.isArray(answer) ? answer : [answer]))
      return answer
    } finally {
      for (const [place, kept] of grants.entries()) {
        // The answer to a call that was given up here does not count.
        if (kept?.call !== call) continue
        Object.assign(kept, { call: undefined, attemptedAt: this.#time.now(), hasFailed: false })
        this.#settle(kept, sentAt, outcomes[place], false)
      }
    }
  }

  #forget(kept: Kept): void {
    this.#kept.delete(kept.slot)
    if (this.#byGrant.get(kept.grant.grantId) === kept) this.#byGrant.delete(kept.grant.grantId)
    kept.ownCall?.abort()
  }

  #look(): void {
    const now = this.#time.now()
    const due = new Map<LeaseStore, Kept[]>()
    let pause = LONGEST_LOOK
    for (const kept of this.#kept.values()) {
      pause = Math.min(pause, (kept.validity - kept.pause) / LOOKS || LONGEST_LOOK)
      if (!this.#isDue(kept, now)) continue
      const others = due.get(kept.from)
      if (others === undefined) due.set(kept.from, [kept])
      else others.push(kept)
    }
    for (const [store, grants] of due) {
      const size = store.renewMany === undefined ? 1 : LARGEST_BATCH
      for (let first = 0; first < grants.length; first += size) {
        void this.#renew(store, grants.slice(first, first + size), now)
      }
    }
    this.#isLooking = this.#kept.size > 0
    if (this.#isLooking) systemClock.schedule(Math.max(pause, SHORTEST_LOOK), () => this.#look())
  }

  #isDue(kept: Kept, now: number): boolean {
    const { confirmedAt, attemptedAt, pause, validity, call, callUntil, own, hasFailed } = kept
    const left = endOf(kept) - now
    if (own !== undefined || left <= 0 || now < confirmedAt + pause) return false
    if (call !== undefined && now < callUntil) return false
    // A user that is alive repeats its heartbeats itself, until half of the time left for repetitions is over.
    const retry = hasFailed ? Math.max(Math.min(LONGEST_RETRY, left / 4), SHORTEST_RETRY) : pause
    const isLast = !hasFailed && left <= (validity - pause) / 2
    if (now < attemptedAt + retry && !isLast) return false
    if (this.#time.userSilence <= kept.unresponsiveAfter) return true
    this.#slots.noteSilence(kept.slot)
    return false
  }

  async #renew(store: LeaseStore, grants: readonly Kept[], now: number): Promise<void> {
    const timeout = Math.min(...grants.map((kept) => Math.min(kept.timeout, endOf(kept) - now)))
    const [own, ownCall] = [new Deferred<void>(), new AbortableCall(timeout)]
    for (const kept of grants) {
      // Gives up a call of the user whose time is over.
      kept.call?.abort()
      Object.assign(kept, { own, ownCall, call: undefined })
    }
    const cancel = systemClock.schedule(timeout, () => ownCall.abort())
    const sentAt = this.#time.now()
    const outcomes = await this.#ask(store, grants, ownCall).catch((): unknown[] => [])
    cancel()
    for (const [place, kept] of grants.entries()) {
      Object.assign(kept, { own: undefined, ownCall: undefined, attemptedAt: this.#time.now(), hasFailed: true })
      this.#settle(kept, sentAt, outcomes[place], true)
    }
    own.resolve()
  }

  async #ask(store: LeaseStore, grants: readonly Kept[], call: AbortableCall): Promise<readonly unknown[]> {
    const [first] = grants
    if (store.renewMany !== undefined) {
      return await untilAborted(
        store.renewMany(
          grants.map(({ grant }) => grant),
          call,
        ),
        call,
      )
    }
    return first === undefined ? [] : [await untilAborted(store.renew(first.grant, call), call)]
  }

  /** An error, and an answer that is not valid, change nothing: the user learns of them by its own heartbeats. */
  #settle(kept: Kept, sentAt: number, outcome: unknown, isOwn: boolean): void {
    if (this.#kept.get(kept.slot) !== kept) return
    const { renewed, reason, holder } = Object(outcome) as { readonly renewed?: unknown } & Partial<
      Omit<Refusal, 'renewed'>
    >
    if (renewed === true) {
      kept.confirmedAt = sentAt
      kept.hasFailed = false
      this.#slots.confirm(kept.slot, sentAt, isOwn)
      kept.deadline?.extend(endOf(kept))
    } else if (renewed === false && reason !== undefined) {
      this.#slots.refuse(kept.slot)
      kept.deadline?.bringForward(this.#time.now())
      this.#forget(kept)
      if (isOwn) this.#onRefused(kept.slot, { renewed, reason, ...(holder && { holder: { ...holder } }) })
    }
  }
}

function endOf({ confirmedAt, validity, holdUntil }: Kept): number {
  return Math.min(confirmedAt + validity, holdUntil)
}

function isHeartbeat(method: StoreMethod): boolean {
  return method === 'renew' || method === 'renewMany' || method === 'update'
}

/** The grants that a call is about, in the order of its outcomes. */
function grantsOf(method: StoreMethod, [first]: readonly unknown[]): readonly Pick<Grant, 'grantId'>[] {
  switch (method) {
    case 'renewMany':
      return first as readonly Grant[]
    case 'acquire':
    case 'renew':
    case 'update':
    case 'release':
    case 'change':
      return [first as Grant]
    default:
      return []
  }
}
