import type {
  DeliveryMessage,
  ElectedMessage,
  PartitionMessage,
  PartitionsMessage,
  PermitMessage,
  RegionMessage,
  ShardMessage,
  TickMessage,
} from '@leasehold/core/channels'
import type { GroupNames } from './group-names.js'
import type { Instruments, Reading } from './instruments.js'
import type { Subscriptions } from './subscriptions.js'

interface PartitionCounts {
  wanted?: number
  held: number
  unowned?: number
}

/** The last figures of a region in this process. */
type RegionCounts = Pick<RegionMessage, 'entities' | 'waiting'>

interface PermitCounts {
  held: number
  total: number
}

/** Measures the recipes: elections, schedules, semaphores and partitions; and regions of entities. */
export class RecipeMetrics {
  readonly #instruments: () => Instruments
  readonly #groups: GroupNames
  readonly #elections: GroupNames
  /** How many elections of a group this process leads. */
  readonly #leads = new Map<string, number>()
  readonly #leadsByName = new Map<string, number>()
  readonly #partitions = new Map<string, PartitionCounts>()
  readonly #permits = new Map<string, PermitCounts>()
  /** By the group of the name, and then by region and owner. */
  readonly #regions = new Map<string, Map<string, RegionCounts>>()

  /** `elections`: the names of elections in the gauge of client-go, as they are. */
  constructor(instruments: () => Instruments, groups: GroupNames, elections: GroupNames) {
    this.#instruments = instruments
    this.#groups = groups
    this.#elections = elections
  }

  subscribe(subscriptions: Subscriptions): void {
    subscriptions.on<ElectedMessage>('leasehold:elected', ({ election }) => this.#countLeads(election, 1))
    subscriptions.on<ElectedMessage>('leasehold:resigned', ({ election }) => this.#countLeads(election, -1))
    subscriptions.on<TickMessage>('leasehold:tick', (message) => this.#onTick(message))
    subscriptions.on<PermitMessage>('leasehold:permit', (message) => this.#onPermit(message))
    subscriptions.on<PartitionMessage>('leasehold:partition', (message) => this.#onPartition(message))
    subscriptions.on<PartitionsMessage>('leasehold:partitions', ({ group, wanted, held, unowned }) => {
      this.#partitions.set(this.#keyOf(group), { wanted, held, unowned })
    })
    subscriptions.on<ShardMessage>('leasehold:shard', ({ region, state }) => {
      this.#instruments().regionMoves.add(1, { ...named('region', this.#keyOf(region)), state })
    })
    subscriptions.on<DeliveryMessage>('leasehold:delivery', ({ region, operation, outcome }) => {
      this.#instruments().regionMessages.add(1, { ...named('region', this.#keyOf(region)), operation, outcome })
    })
    subscriptions.on<RegionMessage>('leasehold:region', (message) => this.#onRegion(message))
  }

  readonly leaders: Reading = (observe) => {
    for (const [election, count] of this.#leads) observe(Math.min(count, 1), named('election', election))
  }

  readonly masterStatus: Reading = (observe) => {
    for (const [name, count] of this.#leadsByName) observe(Math.min(count, 1), { name })
  }

  readonly partitions: Reading = (observe) => {
    for (const [group, { wanted, held, unowned }] of this.#partitions) {
      const attributes = named('group', group)
      observe(held, { ...attributes, state: 'held' })
      if (wanted !== undefined) observe(wanted, { ...attributes, state: 'wanted' })
      if (unowned !== undefined) observe(unowned, { ...attributes, state: 'unowned' })
    }
  }

  readonly permits: Reading = (observe) => {
    for (const [semaphore, { held, total }] of this.#permits) {
      observe(held, { ...named('semaphore', semaphore), state: 'held' })
      observe(total, { ...named('semaphore', semaphore), state: 'total' })
    }
  }

  readonly entities: Reading = (observe) => this.#observeRegions(observe, ({ entities }) => entities)

  readonly waitingMessages: Reading = (observe) => this.#observeRegions(observe, ({ waiting }) => waiting)

  #observeRegions(observe: Parameters<Reading>[0], countOf: (counts: RegionCounts) => number): void {
    for (const [key, regions] of this.#regions) {
      let sum = 0
      for (const counts of regions.values()) sum += countOf(counts)
      observe(sum, named('region', key))
    }
  }

  /** Several regions may be of one group, and several processes' regions in one process. */
  #onRegion({ region, owner, entities, waiting }: RegionMessage): void {
    const key = this.#keyOf(region)
    const regions = this.#regions.get(key) ?? new Map<string, RegionCounts>()
    const process = `${region} ${owner}`
    // Nothing is kept of a region that was stopped.
    if (entities === 0 && waiting === 0) regions.delete(process)
    else regions.set(process, { entities, waiting })
    this.#regions.set(key, regions)
  }

  #countLeads(election: string, change: 1 | -1): void {
    changeCount(this.#leads, this.#keyOf(election), change)
    const name = this.#elections.of(election)
    if (name !== undefined) changeCount(this.#leadsByName, name, change)
  }

  #onTick({ schedule, outcome, lag }: TickMessage): void {
    const attributes = named('schedule', this.#keyOf(schedule))
    const { scheduleRuns, scheduleLag } = this.#instruments()
    scheduleRuns.add(1, { ...attributes, outcome })
    if (lag !== undefined) scheduleLag.record(Math.max(lag, 0) / 1_000, attributes)
  }

  #onPermit({ semaphore, held, permits }: PermitMessage): void {
    const key = this.#keyOf(semaphore)
    const counts = this.#permits.get(key) ?? { held: 0, total: permits }
    this.#permits.set(key, { held: Math.max(counts.held + (held ? 1 : -1), 0), total: permits })
  }

  #onPartition({ group, state }: PartitionMessage): void {
    const key = this.#keyOf(group)
    const counts = this.#partitions.get(key) ?? { held: 0 }
    this.#partitions.set(key, { ...counts, held: Math.max(counts.held + (state === 'held' ? 1 : -1), 0) })
  }

  /** The group of a recipe's name; without one, the empty name, which becomes no attribute. */
  #keyOf(name: string): string {
    return this.#groups.of(name) ?? ''
  }
}

function named(attribute: string, key: string): Record<string, string> {
  return key === '' ? {} : { [attribute]: key }
}

/** A recipe that acted before the instrumentation may end after it. */
function changeCount(counts: Map<string, number>, key: string, change: 1 | -1): void {
  counts.set(key, Math.max((counts.get(key) ?? 0) + change, 0))
}
