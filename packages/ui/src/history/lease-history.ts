import { isLocked, type LeaseRecord } from '@leasehold/core'
import type { HistoryAnswer, HistoryRequest, HistorySpan, SpanEnd } from '../protocol.js'
import { BlindTimes } from './blind-times.js'

/** How many spans are kept for all names together. The oldest ones are forgotten first. */
const MOST_SPANS = 100_000

/** How many spans of one name an answer has: the last ones. */
const MOST_OF_A_NAME = 2_000

interface OpenSpan extends HistorySpan {
  readonly grantId: string
  /** When the grant was last seen in force. Milliseconds since 1970. */
  seenAt: number
  /** When it ends by itself, as far as was known then. */
  until: number | undefined
  wasBreaking: boolean
}

interface ClosedSpan extends HistorySpan {
  readonly to: number
}

interface NameHistory {
  readonly closed: ClosedSpan[]
  open: OpenSpan | undefined
}

/**
 * The holders of each lease in the last `historyFor` milliseconds, as the server saw them. It lacks grants that began and ended
 * between two looks. A grant that ended did so at some time between two looks. It is certain that the grants of its spans existed, in this order.
 * If the next grant is there at the next look, the kind of the end is not certain: `expired`, if the time left that was seen last
 * was over; otherwise `released`, although an operator may have broken the grant in between.
 *
 * All instants are in milliseconds since 1970 by the wall clock of this machine, but for the beginning of a grant that the store
 * knows, if that lies between two looks.
 */
export class LeaseHistory {
  readonly #historyFor: number
  readonly #names = new Map<string, NameHistory>()
  /** All spans that have ended, in the order of their ends. */
  readonly #order = new Set<{ readonly name: string; readonly span: ClosedSpan }>()
  /** The names of which spans were forgotten because there were too many, and the end of the last one of them. */
  readonly #cut = new Map<string, number>()
  readonly #blind: BlindTimes
  #open = 0
  #observedSince: number | undefined

  constructor(historyFor: number) {
    this.#historyFor = historyFor
    this.#blind = new BlindTimes(historyFor)
  }

  /** How many spans are kept. */
  get size(): number {
    return this.#open + this.#order.size
  }

  /** The server begins to look. */
  begin(now: number): void {
    this.#observedSince ??= now
  }

  /** The store could not be listed. */
  onBlind(): void {
    this.#blind.begin()
  }

  /**
   * A listing was complete. `longest`: the time between two listings, if nothing holds them up; after a longer one, the server has
   * not looked.
   */
  onListed(now: number, longest: number): void {
    this.#blind.onSight(now, longest)
    this.#forget(now)
  }

  /** Takes a record that was read. `endOf`: how the grant of this process has ended, if it was one and that is known. */
  see(record: LeaseRecord, now: number, endOf: (grantId: string) => SpanEnd | undefined): void {
    const isHeld = isLocked(record)
    const history = this.#names.get(record.name) ?? (isHeld ? this.#add(record.name) : undefined)
    if (history === undefined) return
    const { open } = history
    const token = String(record.fencingToken)
    if (open !== undefined && (!isHeld || open.grantId !== record.grantId || open.token !== token)) {
      this.#close(record.name, history, endOf(open.grantId) ?? endBy(open, record, now), now)
    }
    if (!isHeld) return
    history.open ??= this.#begin(record, token, history, now)
    while (this.size > MOST_SPANS && this.#forgetOldest()) this.#forgetCuts()
    history.open.seenAt = now
    // Counted from when the read was sent: the listing may have taken long since then, and a waiter comes at the true end.
    const { expiresAt, remaining } = record
    history.open.until = expiresAt ?? (remaining === undefined ? undefined : now + remaining)
    history.open.wasBreaking = record.state === 'breaking'
  }

  /** The name is not in the store any more. */
  seeGone(name: string, now: number, endOf: (grantId: string) => SpanEnd | undefined): void {
    const history = this.#names.get(name)
    if (history?.open === undefined) return
    this.#close(name, history, endOf(history.open.grantId) ?? 'unknown', now)
  }

  answer({ names, from, to }: HistoryRequest): HistoryAnswer {
    const spans: [string, readonly HistorySpan[]][] = []
    const isCut: string[] = []
    for (const name of new Set(names)) {
      const history = this.#names.get(name)
      const all = history === undefined ? [] : spansOf(history).filter((span) => isWithin(span, from, to))
      if (all.length > 0) spans.push([name, all.slice(-MOST_OF_A_NAME)])
      if (all.length > MOST_OF_A_NAME || (this.#cut.get(name) ?? Number.NEGATIVE_INFINITY) >= from) isCut.push(name)
    }
    const blind = this.#blind.within(from, to)
    return { observedSince: this.#observedSince ?? to, blind, isCut, spans: Object.fromEntries(spans) }
  }

  #add(name: string): NameHistory {
    const history: NameHistory = { closed: [], open: undefined }
    this.#names.set(name, history)
    return history
  }

  #begin(record: LeaseRecord, token: string, { closed }: NameHistory, now: number): OpenSpan {
    // The store may know when the grant was made. Its clock may differ from that of this machine, but the grant was certainly not
    // there at the last look, and is there now.
    const earliest = Math.max(
      this.#blind.lastSight ?? Number.NEGATIVE_INFINITY,
      closed.at(-1)?.to ?? Number.NEGATIVE_INFINITY,
    )
    const from = Math.min(Math.max(record.grantedAt ?? now, earliest), now)
    this.#open += 1
    return {
      from,
      owner: record.owner,
      token,
      grantId: record.grantId,
      seenAt: now,
      until: undefined,
      wasBreaking: false,
    }
  }

  #close(name: string, history: NameHistory, end: SpanEnd, now: number): void {
    const { open } = history
    if (open === undefined) return
    const { from, owner, token, until, seenAt } = open
    const to = end === 'expired' && until !== undefined ? Math.min(Math.max(until, seenAt), now) : now
    const span = { from, to, owner, token, end }
    history.open = undefined
    history.closed.push(span)
    this.#open -= 1
    this.#order.add({ name, span })
  }

  /** Forgets the span that has ended first. Returns whether there was one. */
  #forgetOldest(isCut = true): boolean {
    const [oldest] = this.#order
    if (oldest === undefined) return false
    this.#order.delete(oldest)
    const { name, span } = oldest
    const history = this.#names.get(name)
    history?.closed.shift()
    if (isCut) this.#cut.set(name, span.to)
    if (history?.closed.length === 0 && history.open === undefined) this.#names.delete(name)
    return true
  }

  #forgetCuts(): void {
    if (this.#cut.size <= MOST_SPANS) return
    const [oldest] = this.#cut.keys()
    if (oldest !== undefined) this.#cut.delete(oldest)
  }

  /** Forgets what is too old. */
  #forget(now: number): void {
    const oldest = now - this.#historyFor
    for (const { span } of this.#order) {
      if (span.to >= oldest) break
      this.#forgetOldest(false)
    }
    for (const [name, to] of this.#cut) {
      if (to < oldest) this.#cut.delete(name)
    }
  }
}

/** How a grant has ended that is not in force any more, by the record that is there now. */
function endBy(open: OpenSpan, record: LeaseRecord, now: number): SpanEnd {
  const isSame = open.grantId === record.grantId && open.token === String(record.fencingToken)
  if (isSame && record.state === 'available') return 'released'
  if (isSame && record.state === 'expired') return 'expired'
  if (open.wasBreaking || (isSame && record.state === 'broken')) return 'broken'
  if (open.until === undefined) return 'unknown'
  // Another grant is there already. Before the end of the ttl, the holder must have given the name up, or an operator has.
  return now < open.until ? 'released' : 'expired'
}

function spansOf({ closed, open }: NameHistory): readonly HistorySpan[] {
  if (open === undefined) return closed
  const { from, owner, token } = open
  return [...closed, { from, owner, token }]
}

function isWithin({ from, to }: HistorySpan, start: number, end: number): boolean {
  return from <= end && (to === undefined || to >= start)
}
