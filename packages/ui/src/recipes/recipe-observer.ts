import { isLocked, type LeaseRecord, type LeaseStore } from '@leasehold/core'
import { electionOf, groupOf, isRecordKind, placeIn, recipeOf, scheduleOf } from '@leasehold/recipes/internal'
import type { ElectionView, GroupView, RecipeViews, RowRecipe, ScheduleView, SemaphoreView } from '../protocol.js'
import { electionView } from './election-view.js'
import { FoundRecipe, readable } from './found-recipe.js'
import { groupView } from './group-view.js'
import { KeptViews } from './kept-views.js'
import { scheduleView } from './schedule-view.js'
import { semaphoreView } from './semaphore-view.js'

/** The recipes that the records of one listing show. */
export interface SeenRecipes {
  /** Each view, each list of views, and the whole are the same objects as after the last listing if they have not changed. */
  readonly views: RecipeViews
  /** The recipe that a lease belongs to. */
  recipeOf(name: string): RowRecipe | undefined
  /** The names of the other leases of its recipe, in their order. */
  relatedTo(name: string): readonly string[]
}

/**
 * Recognises recipes by their records. Records that another program has written, or that are damaged, cost only their own view.
 */
export class RecipeObserver {
  readonly #store: LeaseStore
  readonly #elections = new KeptViews<ElectionView>()
  readonly #schedules = new KeptViews<ScheduleView>()
  readonly #semaphores = new KeptViews<SemaphoreView>()
  readonly #groups = new KeptViews<GroupView>()
  #views: RecipeViews = { elections: [], schedules: [], semaphores: [], groups: [] }
  #last = new Listing()

  constructor(store: LeaseStore) {
    this.#store = store
  }

  /** `records`: all of one listing. `now`: the wall clock, in milliseconds since 1970. Never throws. */
  onListing(records: readonly LeaseRecord[], now: number): SeenRecipes {
    const listing = new Listing(this.#last)
    this.#last = listing
    for (const record of records) readable(() => listing.addNamed(record))
    for (const record of records) readable(() => listing.addBeside(record))
    listing.forgetLast()
    const store = this.#store
    const elections = this.#elections.next(
      listing.of('leader-election').map((found) => electionView(found, store)),
      now,
    )
    const schedules = this.#schedules.next(
      listing.of('schedule').map((found) => scheduleView(found, now)),
      now,
    )
    const semaphores = this.#semaphores.next(
      [...listing.of('semaphore'), ...listing.of('read-write-lease')].flatMap((found) => semaphoreView(found) ?? []),
      now,
    )
    const groups = this.#groups.next(
      listing.of('partition-group').map((found) => groupView(found, store)),
      now,
    )
    const views: RecipeViews = { elections, schedules, semaphores, groups }
    const kinds = Object.keys(views) as (keyof RecipeViews)[]
    if (kinds.some((kind) => views[kind] !== this.#views[kind])) this.#views = views
    return {
      views: this.#views,
      recipeOf: (name) => listing.foundOf(name)?.recipe,
      relatedTo: (name) => (listing.foundOf(name)?.names ?? []).filter((other) => other !== name).sort(),
    }
  }
}

/** A record that belongs to a recipe. */
interface Assigned {
  readonly found: FoundRecipe
  readonly record: LeaseRecord
}

/** The records of one listing, by their recipes. */
class Listing {
  readonly #kinds = new Map<string, Map<string, FoundRecipe>>()
  readonly #assigned = new Map<string, Assigned>()
  #last: Listing | undefined

  constructor(last?: Listing) {
    this.#last = last
  }

  /** Lets go of the listing before. */
  forgetLast(): void {
    this.#last = undefined
  }

  of(kind: string): readonly FoundRecipe[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])]
  }

  foundOf(name: string): FoundRecipe | undefined {
    return this.#assigned.get(name)?.found
  }

  /** A record as it was assigned; `undefined` if it belongs to no recipe. */
  recordOf(name: string): LeaseRecord | undefined {
    return this.#assigned.get(name)?.record
  }

  recipeIn(kind: string, name: string): RowRecipe | undefined {
    return this.#kinds.get(kind)?.get(name)?.recipe
  }

  /** Adds a record that has the name of its recipe. */
  addNamed(given: LeaseRecord): void {
    const record = this.#known(given)
    const kind = recipeOf(record.metadata)
    const { name } = record
    if (kind === undefined || !isRecordKind(kind) || this.#assigned.has(name)) return
    if (kind === 'leader-election') {
      const election = electionOf(record)
      const found = this.#assign(kind, election ?? name, record)
      if (election === undefined) found.record = record
      else this.#addPlace(found, record)
    } else if (kind === 'schedule' || kind === 'schedule-control') {
      const part = scheduleOf(record)
      if (part === undefined) return
      const found = this.#assign('schedule', part.name, record)
      found.record ??= part.record
      found.control ??= part.control
    } else if (kind === 'partition-group') {
      const { group = name, isMember = false } = groupOf(name) ?? {}
      const found = this.#assign(kind, group, record)
      if (isMember) this.#addPlace(found, record)
    } else {
      this.#assign(kind, name, record).record = record
    }
  }

  /** Adds a record that has only a name beside that of a recipe: a slot, a wish to resize, or a partition. */
  addBeside(record: LeaseRecord): void {
    const { name } = record
    if (this.#assigned.has(name)) return
    const end = name.lastIndexOf('/')
    if (end < 0) return
    const before = name.slice(0, end)
    for (const kind of ['semaphore', 'read-write-lease']) {
      const turnstile = this.#kinds.get(kind)?.get(before)
      if (turnstile === undefined) continue
      const slot = placeIn(name)?.place
      if (slot === undefined && name !== `${before}/resize`) continue
      this.#assign(kind, before, record)
      // Another program may have written a zero in front of the number.
      if (slot !== undefined && name === `${before}/${slot}`) this.#addPlace(turnstile, record)
      return
    }
    const { group = '' } = groupOf(name) ?? {}
    if (this.#kinds.get('partition-group')?.has(group)) this.#assign('partition-group', group, record)
  }

  /**
   * Azure Blob Storage grants a lease before it has the record of the holder. In between, the metadata are those that were seen
   * before.
   */
  #known(record: LeaseRecord): LeaseRecord {
    if (record.owner !== '' || !isLocked(record) || recipeOf(record.metadata) !== undefined) return record
    const before = this.#last?.recordOf(record.name)
    return before === undefined ? record : { ...record, metadata: before.metadata }
  }

  #assign(kind: string, name: string, record: LeaseRecord): FoundRecipe {
    const ofKind = this.#kinds.get(kind) ?? new Map<string, FoundRecipe>()
    this.#kinds.set(kind, ofKind)
    const found = ofKind.get(name) ?? new FoundRecipe(this.#last?.recipeIn(kind, name) ?? { kind, name })
    ofKind.set(name, found)
    found.names.push(record.name)
    this.#assigned.set(record.name, { found, record })
    return found
  }

  #addPlace(found: FoundRecipe, record: LeaseRecord): void {
    const { place } = placeIn(record.name) ?? {}
    if (place !== undefined) found.places.push({ place, record })
  }
}
