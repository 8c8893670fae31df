import { LeaseError, type LeaseStore } from '@leasehold/core'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { assign, setup } from 'xstate'
import { NotDeliveredError, OutcomeUnknownError } from '../../src/delivery-errors.js'
import type { SavedEntity } from '../../src/entity-state.js'
import { shardOf } from '../../src/hash.js'
import { ShardRegion } from '../../src/shard-region.js'
import type { ShardRegionOptions } from '../../src/shard-region-options.js'
import { Singleton } from '../../src/singleton.js'
import { SimulatedNetwork } from './simulated-network.js'
import { SimulatedState } from './simulated-state.js'

const SHARDS = 3

/** More processes would only cost time. */
const PROCESSES = 3

const ENTITIES: readonly [string, ...string[]] = ['a', 'b', 'c', 'd']

/** What an entity has taken: of each sender, the numbers in their order. */
type Taken = Readonly<Record<string, readonly number[]>>

/** What all processes of a schedule share. */
export class Fleet {
  readonly network = new SimulatedNetwork()
  readonly state = new SimulatedState()
  /** How many shards were taken so far: the later owner has the larger number. */
  epochs = 0
  /** The epoch that handled the last event, by entity. */
  readonly lastEpoch = new Map<string, number>()
  /** The numbers whose saves were confirmed, by entity and sender. */
  readonly confirmed = new Map<string, Set<number>>()
  lastConfirmed = 0
  fault: string | undefined
  /** An error that was reported, and that no fault of the network explains. */
  unexpected: string | undefined
  readonly totals = { handled: 0, delivered: 0, 'not-delivered': 0, unknown: 0, answered: 0, confirmed: 0 }

  constructor() {
    this.state.onSaved = (id, saved) => this.checkSaved(id, saved)
  }

  note(fault: string): void {
    this.fault ??= fault
  }

  confirm(entity: string, sender: string, number: number): void {
    const key = `${entity} ${sender}`
    const numbers = this.confirmed.get(key) ?? new Set<number>()
    this.confirmed.set(key, numbers.add(number))
    this.totals.confirmed += 1
    this.checkSaved(entity, this.state.saved(entity))
  }

  /** Whatever was confirmed stays saved. */
  checkSaved(entity: string, saved: SavedEntity | undefined): void {
    const { context } = Object(saved?.snapshot) as { context?: { taken: Taken } }
    for (const [key, numbers] of this.confirmed) {
      const [of, sender = ''] = key.split(' ')
      if (of !== entity) continue
      const taken = new Set(context?.taken[sender])
      for (const number of numbers) {
        if (!taken.has(number)) this.note(`${entity} has lost ${number} of ${sender}, which was confirmed`)
      }
    }
  }
}

function fleetOf(shared: Map<string, unknown>): Fleet {
  const fleet = (shared.get('fleet') as Fleet | undefined) ?? new Fleet()
  shared.set('fleet', fleet)
  return fleet
}

type AccountEvent =
  | { type: 'take'; sender: string; number: number }
  | { type: 'taken'; sender: string; reply?: (numbers: readonly number[]) => void }

function accountOf(fleet: Fleet, epochOf: (entity: string) => number, owner: string) {
  const onHandled = (id: string, epoch: number): void => {
    const last = fleet.lastEpoch.get(id) ?? 0
    if (epoch < last) fleet.note(`${owner} handles an event of ${id}, which another process has taken over`)
    fleet.lastEpoch.set(id, Math.max(last, epoch))
    fleet.totals.handled += 1
  }
  return setup({
    types: { input: {} as { id: string }, context: {} as { id: string; taken: Taken }, events: {} as AccountEvent },
  }).createMachine({
    context: ({ input }) => ({ id: input.id, taken: {} }),
    on: {
      take: {
        actions: [
          ({ context: { id, taken }, event: { sender, number } }) => {
            onHandled(id, epochOf(id))
            const last = taken[sender]?.at(-1) ?? 0
            if (number <= last) fleet.note(`${id} gets ${number} of ${sender} after ${last}`)
          },
          assign({
            taken: ({ context: { taken }, event: { sender, number } }) => ({
              ...taken,
              [sender]: [...(taken[sender] ?? []), number],
            }),
          }),
        ],
      },
      taken: {
        actions: ({ context: { id, taken }, event }) => {
          onHandled(id, epochOf(id))
          event.reply?.(taken[event.sender] ?? [])
        },
      },
    },
  })
}

/** What the processes of a schedule run: entities in shards, or one actor. */
interface Kind {
  readonly shards: number
  readonly entities: readonly [string, ...string[]]
  readonly create: (store: LeaseStore, options: ShardRegionOptions, onTaken: (shard: number) => void) => Running
}

/** What runs in one process. */
interface Running extends Pick<ShardRegion, 'start' | 'stop' | 'tell' | 'ask'> {
  readonly owns: (shard: number) => boolean
  readonly on: (event: 'error', listener: (error: unknown) => void) => unknown
}

const regionKind: Kind = {
  shards: SHARDS,
  entities: ENTITIES,
  create: (store, options, onTaken) => {
    const region: ShardRegion = new ShardRegion(store, options)
    region.on('shard', ({ shard, state }) => state === 'taken' && onTaken(shard))
    return Object.assign(region, { owns: (shard: number) => region.owned.includes(shard) })
  },
}

const singletonKind: Kind = {
  shards: 1,
  entities: ['accounts'],
  create: (store, { shards: _, passivateAfter: __, rebalanceInterval: ___, entity: actor, ...options }, onTaken) => {
    const singleton = new Singleton(store, { ...options, actor })
    singleton.on('elected', () => onTaken(0))
    return {
      owns: () => singleton.isHere,
      start: () => singleton.start(),
      stop: () => singleton.stop(),
      on: (event, listener) => singleton.on(event, listener),
      tell: (_id, event, given) => singleton.tell(event, given),
      ask: (_id, event, given) => singleton.ask(event, given),
    }
  },
}

async function workload(simulated: SimulatedProcess, { shards, entities, create }: Kind): Promise<void> {
  const { store, leaseOptions, show, shared, sleep, signal, random, node, owner, clock } = simulated
  if (node >= PROCESSES) return await untilAborted(signal)
  const fleet = fleetOf(shared)
  // As few heartbeats as the settings admit: they are tested elsewhere.
  const { heartbeatTimeout = 1_000, operationTimeout = 100 } = leaseOptions
  const heartbeatInterval = (heartbeatTimeout - operationTimeout) * 0.3
  const epochs = new Map<number, number>()
  const epochOf = (entity: string): number => epochs.get(shardOf(entity, shards)) ?? -1
  const latency = operationTimeout / 8
  const holdFor = 3 * heartbeatTimeout
  const options = {
    ...leaseOptions,
    name: 'accounts',
    shards,
    entity: accountOf(fleet, epochOf, owner),
    transport: fleet.network.transport(`node-${node}`, clock, random, latency),
    state: fleet.state.of(clock, random, latency),
    passivateAfter: heartbeatInterval * random.between(0.5, 10),
    holdFor,
    stopTimeout: heartbeatInterval * random.between(0, 3),
    rebalanceInterval: heartbeatInterval,
    heartbeatInterval,
    random: () => random.between(0, 1),
    // The region renews its leases by itself.
    strategy: leaseOptions.strategy === 'manual' ? 'interval' : leaseOptions.strategy,
  }
  const region = create(store, options, (shard) => {
    fleet.epochs += 1
    epochs.set(shard, fleet.epochs)
  })
  region.on('error', (error) => {
    if (error instanceof LeaseError || error instanceof NotDeliveredError || error instanceof OutcomeUnknownError)
      return
    if (!/connection reset|did not end within/.test(String(error)))
      fleet.unexpected ??= `${owner} reports ${String(error)}`
  })
  for (let shard = 0; shard < shards; shard += 1) {
    show({ kind: 'shard', of: String(shard), isActive: () => region.owns(shard) })
  }
  await region.start()
  const counts = new Map<string, number>()
  const pending = new Set<string>()
  const isLeaving = node > 0 && random.chance(0.3)
  const leaveAt = clock.now() + heartbeatInterval * random.between(5, 60)
  while (!signal.aborted && !(isLeaving && clock.now() > leaveAt)) {
    for (let burst = random.whole(1, 3); burst > 0; burst -= 1) send()
    await sleep(heartbeatInterval * random.between(0.1, 2))
  }
  await region.stop()
  if (pending.size > 0) fleet.note(`${owner} has stopped, and got no outcome of ${[...pending].join(', ')}`)
  await untilAborted(signal)

  function send(): void {
    const entity = random.pick(entities)
    const number = (counts.get(entity) ?? 0) + 1
    counts.set(entity, number)
    const deliver = random.chance(0.5) ? 'at-least-once' : 'at-most-once'
    const key = `${entity} ${number}`
    const settled = (): boolean => pending.delete(key)
    pending.add(key)
    if (random.chance(0.15)) {
      const before = new Set(fleet.confirmed.get(`${entity} ${owner}`))
      const asked = region.ask<number[]>(entity, { type: 'taken', sender: owner }, { timeout: holdFor })
      asked.then(
        (numbers) => {
          settled()
          fleet.totals.answered += 1
          for (const one of before)
            if (!numbers.includes(one)) fleet.note(`${entity} answers without ${one} of ${owner}`)
        },
        (error) => {
          settled()
          const isExpected = error instanceof NotDeliveredError || error instanceof OutcomeUnknownError
          if (!isExpected) fleet.note(`ask rejects with ${String(error)}`)
        },
      )
      return
    }
    const cancel = expectWithin(holdFor, key)
    void region.tell(entity, { type: 'take', sender: owner, number }, { deliver }).then((outcome) => {
      settled()
      cancel()
      fleet.totals[outcome] += 1
      if (outcome !== 'delivered' || deliver === 'at-most-once') return
      fleet.confirm(entity, owner, number)
      fleet.lastConfirmed = Math.max(fleet.lastConfirmed, Number(shared.get('now') ?? 0))
    })
  }

  /** Notes a message that has no outcome in time. A machine that stood still when it was due gets the slack again. */
  function expectWithin(time: number, key: string): () => void {
    let cancel = (): void => {}
    const wait = (left: number): void => {
      const due = clock.now() + left
      cancel = clock.schedule(left, () => {
        if (clock.now() > due + latency) wait(slack)
        else fleet.note(`${owner} has no outcome of ${key} in time`)
      })
    }
    const slack = 30 * operationTimeout
    wait(time + slack)
    return () => cancel()
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function findFault({ shared, now, faults }: ScenarioView): string | undefined {
  ;(shared as Map<string, unknown>).set('now', now)
  const fleet = shared.get('fleet') as Fleet | undefined
  // A client that answers with nonsense explains any error.
  const isNonsense = faults.some(({ kind }) => kind === 'nonsense' || kind === 'user-code')
  return fleet?.fault ?? (isNonsense ? undefined : fleet?.unexpected)
}

/** Whether each shard has an owner, and something was confirmed a short while ago. */
function hasProgressed({ active, shared, now }: ScenarioView, shards: number): boolean {
  const fleet = shared.get('fleet') as Fleet | undefined
  const owned = new Set(active.map(({ of }) => of))
  return owned.size === shards && fleet !== undefined && fleet.lastConfirmed > 0 && now - fleet.lastConfirmed < 5_000
}

const scenarioOf = (kind: Kind): Scenario => ({
  workload: (simulated) => workload(simulated, kind),
  findFault,
  hasProgressed: (view) => hasProgressed(view, kind.shards),
})

/** Entities in three shards, and processes that come, stall, die and leave, over a network and a state that fail. */
export const scenario: Scenario = scenarioOf(regionKind)

/** The same with one actor for all processes. */
export const singletonScenario: Scenario = scenarioOf(singletonKind)
