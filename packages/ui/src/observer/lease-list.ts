import { type Clock, isLocked, type LeaseRecord } from '@leasehold/core'
import type { LeaseRow, ListChanges, ListPart, RowRecipe } from '../protocol.js'
import { eventBytes } from '../server/event-text.js'
import { ChangeLog, type Logged } from './change-log.js'
import { Countdown, endless, isShownSame, rowOf } from './lease-row.js'

/** How many names an event has at most. */
const MOST_IN_EVENT = 500

/** How many deleted names the list keeps for readers that are behind. One that is further behind gets the whole list again. */
const MOST_GONE = 10_000

/** For how long an event that was made for one reader is good for others, in milliseconds: it has the time left in it. */
const EVENT_LIFE = 250

interface Entry extends Logged {
  readonly name: string
  /** Absent for a name that is gone. */
  row: LeaseRow | undefined
  record: LeaseRecord | undefined
  countdown: Countdown | undefined
  grantId: string
  firstSeen: number
  /** When it was last read, on the clock. */
  readAt: number
  /** The version of the last change that was more than a heartbeat. */
  rowVersion: number
}

/** How far a reader has got. `listUntil`: it gets the whole list, as it was at this version. */
export interface Position {
  readonly version: number
  readonly listUntil: number | undefined
}

/** The next event for a reader, and how far the reader is with it. */
export interface NextEvent {
  readonly bytes: Uint8Array
  readonly position: Position
}

/** All names of the last listing, and what has changed since any earlier version of the list. */
export class LeaseList {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #gone = new Map<string, Entry>()
  readonly #log = new ChangeLog<Entry>()
  /** The events that were made just now, by the position that they lead on from. */
  readonly #events = new Map<string, NextEvent>()
  #eventsMadeAt = Number.NEGATIVE_INFINITY
  /** Readers with an earlier version may have rows of names that are gone and forgotten. */
  #forgotten = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get head(): number {
    return this.#log.head
  }

  names(): Iterable<string> {
    return this.#entries.keys()
  }

  /** When the grant of a record was first seen, in milliseconds since 1970; `undefined` if the list has another one. */
  firstSeenOf({ name, grantId }: LeaseRecord): number | undefined {
    const entry = this.#entries.get(name)
    return entry?.grantId === grantId ? entry.firstSeen : undefined
  }

  recordOf(name: string): LeaseRecord | undefined {
    return this.#entries.get(name)?.record
  }

  readAtOf(name: string): number {
    return this.#entries.get(name)?.readAt ?? this.#gone.get(name)?.readAt ?? Number.NEGATIVE_INFINITY
  }

  /** Takes a record that was read. `wall`: now, in milliseconds since 1970. */
  set(record: LeaseRecord, recipe: RowRecipe | undefined, wall: number): void {
    const now = this.#clock.now()
    const entry = this.#entryOf(record.name)
    entry.readAt = now
    if (entry.row === undefined || entry.grantId !== record.grantId || !isLocked(entry.record)) entry.firstSeen = wall
    entry.record = record
    entry.grantId = record.grantId
    const row = rowOf(record, entry.firstSeen, recipe)
    const isAnother = entry.row === undefined || !isShownSame(entry.row, row)
    entry.row = row
    const isTold = this.#countDown(entry, record, isAnother, { now, wall })
    if (!isAnother && !isTold) return
    this.#touch(entry)
    if (isAnother) entry.rowVersion = entry.version
  }

  delete(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    this.#gone.set(name, entry)
    entry.row = undefined
    entry.record = undefined
    entry.countdown = undefined
    entry.readAt = this.#clock.now()
    this.#touch(entry)
    entry.rowVersion = entry.version
    this.#forgetGone()
  }

  /** The position of a new reader. */
  get start(): Position {
    return { version: 0, listUntil: this.head }
  }

  /** The next event for a reader at this position; `undefined` if the reader knows everything. Made once for all of them. */
  eventAfter(position: Position): NextEvent | undefined {
    const { version, listUntil } = position
    if (listUntil === undefined && version === this.head) return undefined
    if (version > 0 && version < this.#forgotten) return this.eventAfter(this.start)
    const now = this.#clock.now()
    if (now - this.#eventsMadeAt > EVENT_LIFE) {
      this.#events.clear()
      this.#eventsMadeAt = now
    }
    const key = `${version}:${listUntil ?? ''}`
    const known = this.#events.get(key)
    if (known !== undefined) return known
    const made = listUntil === undefined ? this.#changesAfter(version, now) : this.#partAfter(version, listUntil, now)
    this.#events.set(key, made)
    return made
  }

  /** Forgets the events that were made. They are large, and nobody may need them for long. */
  forgetEvents(): void {
    this.#events.clear()
  }

  #entryOf(name: string): Entry {
    const known = this.#entries.get(name) ?? this.#gone.get(name)
    if (known !== undefined) {
      this.#gone.delete(name)
      this.#entries.set(name, known)
      return known
    }
    const entry: Entry = {
      name,
      row: undefined,
      record: undefined,
      countdown: undefined,
      grantId: '',
      firstSeen: 0,
      readAt: 0,
      rowVersion: 0,
      version: 0,
    }
    this.#entries.set(name, entry)
    this.#log.add(entry)
    return entry
  }

  /** Updates the countdown of a row. Returns whether the pages need the new time left. */
  #countDown(
    entry: Entry,
    record: LeaseRecord,
    isAnother: boolean,
    { now, wall }: { readonly now: number; readonly wall: number },
  ): boolean {
    const { remaining, ttl = remaining, expiresAt = Number.NaN } = record
    if (!isLocked(record) || remaining === undefined || ttl === undefined) {
      entry.countdown = undefined
      return false
    }
    // A record of a long listing was read a while ago.
    const left = Number.isFinite(expiresAt) ? Math.min(remaining, Math.max(0, expiresAt - wall)) : remaining
    if (entry.countdown === undefined || isAnother) {
      entry.countdown = new Countdown(left, now)
      return true
    }
    return entry.countdown.correct(left, ttl, now)
  }

  #touch(entry: Entry): void {
    this.#log.touch(entry)
    if (this.#events.size > 0) this.#events.clear()
  }

  #forgetGone(): void {
    if (this.#gone.size <= MOST_GONE) return
    const [oldest] = this.#gone.values()
    if (oldest === undefined) return
    this.#gone.delete(oldest.name)
    this.#forgotten = oldest.version
    this.#log.remove(oldest)
  }

  #partAfter(version: number, listUntil: number, now: number): NextEvent {
    const rows: LeaseRow[] = []
    let last = version
    let isLast = true
    for (const entry of this.#log.after(version)) {
      // It has changed since: its row comes with the changes.
      if (entry.version > listUntil) break
      if (rows.length === MOST_IN_EVENT) {
        isLast = false
        break
      }
      last = entry.version
      const row = this.#shown(entry, now)
      if (row !== undefined) rows.push(row)
    }
    const part: ListPart = { isFirst: version === 0, isLast, rows }
    const position = isLast ? { version: listUntil, listUntil: undefined } : { version: last, listUntil }
    return { bytes: eventBytes('list', part), position }
  }

  #changesAfter(version: number, now: number): NextEvent {
    const rows: LeaseRow[] = []
    const gone: string[] = []
    const renewed: [string, number][] = []
    let last = version
    let count = 0
    for (const entry of this.#log.after(version)) {
      if (count === MOST_IN_EVENT) break
      count += 1
      last = entry.version
      const { name, countdown } = entry
      const row = this.#shown(entry, now)
      if (row === undefined) gone.push(name)
      else if (entry.rowVersion > version || countdown === undefined) rows.push(row)
      else renewed.push([name, Math.round(countdown.shownAt(now))])
    }
    const changes: ListChanges = {
      ...(rows.length > 0 && { rows }),
      ...(gone.length > 0 && { gone }),
      ...(renewed.length > 0 && { renewed }),
    }
    // Entries that were forgotten may have had the last versions.
    const position = { version: count < MOST_IN_EVENT ? this.head : last, listUntil: undefined }
    return { bytes: eventBytes('changes', changes), position }
  }

  #shown({ row, countdown }: Entry, now: number): LeaseRow | undefined {
    if (row === undefined || countdown === undefined) return row
    return { ...row, remaining: endless(countdown.shownAt(now)) }
  }
}
