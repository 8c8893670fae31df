import type { LeaseRow, ListChanges, ListPart, RowState } from '../../src/protocol.js'
import { createEntry, type Entry, renewEntry } from './entry.js'
import { everything, type Filter, matcherOf } from './filter.js'
import { groupedLines, type Lines, plainLines } from './lines.js'
import { comparisonOf, type Order } from './order.js'
import { SortedEntries } from './sorted-entries.js'

/** How the reader looks at the list. */
export interface ListView {
  readonly filter: Filter
  readonly order: Order
  readonly isGrouped: boolean
  /** The groups of which only the heading is shown. */
  readonly closed: ReadonlySet<string>
}

export const firstView: ListView = {
  filter: everything,
  order: { column: 'name', isDescending: false },
  isGrouped: false,
  closed: new Set(),
}

/** All leases, and those that the reader looks at in their order. A change costs the changed rows, not all of them. */
export class Listing {
  #entries = new Map<string, Entry>()
  /** The parts of a new list that have come, until it is whole: half a list is not shown. */
  #coming: Map<string, Entry> | undefined
  #view = firstView
  #matches = matcherOf(firstView.filter)
  #shown = new SortedEntries(comparisonOf(firstView.order, false), [])
  #lines: Lines | undefined
  #counts = new Map<RowState, number>()
  #isWhole = false

  /** Whether a whole list has come since the page was opened. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  get size(): number {
    return this.#entries.size
  }

  get view(): ListView {
    return this.#view
  }

  /** The leases that match the filter, in their order. */
  get shown(): readonly Entry[] {
    return this.#shown.entries
  }

  get lines(): Lines {
    this.#lines ??= this.#view.isGrouped ? groupedLines(this.shown, this.#view.closed) : plainLines(this.shown)
    return this.#lines
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name)
  }

  countOf(state: RowState): number {
    return this.#counts.get(state) ?? 0
  }

  look(view: ListView): void {
    const before = this.#view
    this.#view = view
    this.#lines = undefined
    if (view.filter === before.filter && view.order === before.order && view.isGrouped === before.isGrouped) return
    this.#matches = matcherOf(view.filter)
    this.#sort()
  }

  addPart({ isFirst, isLast, rows }: ListPart, now: number): void {
    if (isFirst) this.#coming = new Map()
    const coming = this.#coming
    if (coming === undefined) return
    for (const row of rows) coming.set(row.name, createEntry(row, now))
    if (!isLast) return
    this.#entries = coming
    this.#coming = undefined
    this.#isWhole = true
    this.#counts = new Map()
    for (const { row } of coming.values()) this.#count(row, 1)
    this.#sort()
  }

  /** Returns the names whose rows changed or are gone: heartbeats do not count. */
  change({ rows = [], gone = [], renewed = [] }: ListChanges, now: number): string[] {
    for (const row of rows) this.#set(row.name, createEntry(row, now))
    for (const name of gone) this.#set(name, undefined)
    for (const [name, remaining] of renewed) {
      const before = (this.#coming ?? this.#entries).get(name)
      if (before !== undefined) this.#set(name, renewEntry(before, remaining, now))
    }
    this.#lines = undefined
    return [...rows.map(({ name }) => name), ...gone]
  }

  #set(name: string, after: Entry | undefined): void {
    if (this.#coming !== undefined) setOrDelete(this.#coming, name, after)
    const before = this.#entries.get(name)
    setOrDelete(this.#entries, name, after)
    if (before !== undefined) this.#count(before.row, -1)
    if (after !== undefined) this.#count(after.row, 1)
    const wasShown = before !== undefined && this.#matches(before)
    const isShown = after !== undefined && this.#matches(after)
    if (wasShown && isShown) this.#shown.replace(before, after)
    else if (wasShown) this.#shown.remove(before)
    else if (isShown) this.#shown.insert(after)
  }

  #count({ state }: LeaseRow, by: number): void {
    this.#counts.set(state, this.countOf(state) + by)
  }

  #sort(): void {
    const { order, isGrouped } = this.#view
    const matching = [...this.#entries.values()].filter(this.#matches)
    this.#shown = new SortedEntries(comparisonOf(order, isGrouped), matching)
    this.#lines = undefined
  }
}

function setOrDelete(entries: Map<string, Entry>, name: string, entry: Entry | undefined): void {
  if (entry === undefined) entries.delete(name)
  else entries.set(name, entry)
}
