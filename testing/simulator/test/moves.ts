import { createLease, type LeaseStore, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import type { Random, Scenario, SimulatedProcess } from '@leasehold/simulator'
import { type Fault, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { expectLeaseErrors } from '../src/expected-errors.js'

/** The stores that a process uses: one of them, or both. */
type Stage = 'from' | 'both' | 'to'

const stages: readonly Stage[] = ['from', 'both', 'to']

/** The stage that is deployed at an instant, in ttls: the fleet moves, and then moves back. */
const deployed: readonly (readonly [until: number, stage: Stage])[] = [
  [1, 'from'],
  [2.2, 'both'],
  [3.4, 'to'],
  [4.4, 'both'],
  [Number.POSITIVE_INFINITY, 'from'],
]

/** When the messages of these stores stop to be lost, in ttls: before the shortest schedule ends. */
const CALM = 5

/** What happened in a schedule, so that a test can see that it tests something. */
export interface MoveCounts {
  grants: number
  /** Grants of a process with a stage other than that of the grant before. */
  crossings: number
  faults: number
}

/** The two servers, and the fleet. */
interface World {
  readonly from: MemoryLeaseStore
  readonly to: MemoryLeaseStore
  /** The stage of the last process on each node: a crashed one may still be holding. */
  readonly stages: Map<number, Stage>
  readonly counts: MoveCounts
  largest: bigint
  last: Stage | undefined
  fault: string | undefined
}

function worldOf({ shared, time }: SimulatedProcess): World {
  const known = shared.get('world') as World | undefined
  if (known !== undefined) return known
  const clock = new VirtualClock({ time })
  const world: World = {
    from: new MemoryLeaseStore({ clock }),
    to: new MemoryLeaseStore({ clock }),
    stages: new Map(),
    counts: { grants: 0, crossings: 0, faults: 0 },
    largest: 0n,
    last: undefined,
    fault: undefined,
  }
  shared.set('world', world)
  return world
}

export function moveCounts(shared: ReadonlyMap<string, unknown>): MoveCounts {
  return (shared.get('world') as World | undefined)?.counts ?? { grants: 0, crossings: 0, faults: 0 }
}

async function live(process: SimulatedProcess): Promise<void> {
  const { signal, node } = process
  const world = worldOf(process)
  let current: StoreLease | undefined
  process.show({ kind: 'holding', of: 'moved', isActive: () => current?.checkLease() === true })
  // A process that starts again has the stage of the deployment, or the next one to it that excludes all others.
  let stage = nextStage(process, world, world.stages.get(node))
  while (!signal.aborted) {
    world.stages.set(node, stage)
    const lease = createLease(storeOf(process, world, stage), 'moved', process.leaseOptions)
    current = lease
    while (!signal.aborted && stage === nextStage(process, world, stage)) await turn(process, world, lease, stage)
    await expectLeaseErrors(() => lease.release())
    // Replaced only when it certainly holds nothing.
    while (lease.checkLease()) await process.sleep(1)
    stage = nextStage(process, world, stage)
  }
}

/**
 * One step towards the stage that is deployed, unless a process is alive that the next stage does not exclude, or its last
 * grant is in the other store only.
 */
function nextStage({ time, leaseOptions }: SimulatedProcess, world: World, stage: Stage | undefined): Stage {
  const at = time.now / (leaseOptions.heartbeatTimeout ?? 1)
  const wanted = deployed.find(([until]) => at < until)?.[1] ?? 'from'
  const own = stages.indexOf(stage ?? wanted)
  const next = stages[own + Math.sign(stages.indexOf(wanted) - own)] ?? wanted
  const excluded: Stage | undefined = next === 'from' ? 'to' : next === 'to' ? 'from' : undefined
  const isTooEarly = world.last === excluded || [...world.stages.values()].some((other) => other === excluded)
  return excluded !== undefined && isTooEarly ? 'both' : next
}

async function turn(process: SimulatedProcess, world: World, lease: StoreLease, stage: Stage): Promise<void> {
  const { random, signal, sleep, leaseOptions } = process
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  await expectLeaseErrors(async () => {
    const isHeld = await lease.acquire({ wait: random.pick([0, ttl / 4, ttl]), signal })
    if (isHeld) note(world, lease, stage)
  })
  await sleep(ttl * random.magnitude(-4, random.pick([-0.5, 0.5])))
  await expectLeaseErrors(() => lease.release())
  await sleep(ttl * random.magnitude(-5, -1))
}

/** The tokens of holders grow in the order in which they held. */
function note(world: World, { fencingToken }: StoreLease, stage: Stage): void {
  if (fencingToken === undefined) return
  if (fencingToken <= world.largest) world.fault ??= `the token ${fencingToken} came after ${world.largest}`
  world.largest = fencingToken
  world.counts.grants += 1
  if (world.last !== undefined && world.last !== stage) world.counts.crossings += 1
  world.last = stage
}

function storeOf(process: SimulatedProcess, world: World, stage: Stage): LeaseStore {
  const [from, to] = [remote(process, world, world.from), remote(process, world, world.to)]
  return stage === 'both' ? migrate(from, to) : { from, to }[stage]
}

/** A store behind a network: each call takes time, and some messages are lost, late or doubled. */
function remote(process: SimulatedProcess, world: World, store: LeaseStore): LeaseStore {
  const { random, clock, time, leaseOptions } = process
  const limit = leaseOptions.operationTimeout ?? 100
  const isCalm = (): boolean => time.now > CALM * (leaseOptions.heartbeatTimeout ?? 0)
  const plan = (): Fault | undefined => {
    if (isCalm() || !random.chance(0.1)) return undefined
    world.counts.faults += 1
    return faultOf(random, limit)
  }
  const lossy = new FaultyStore(store, { plan, clock })
  // A process that has died sends nothing any more: its timers have no effect.
  return new FaultyStore(lossy, { plan: () => ({ kind: 'delay', duration: limit * random.magnitude(-3, -1) }), clock })
}

function faultOf(random: Random, limit: number): Fault {
  return random.pick<Fault>([
    { kind: 'fail-before' },
    { kind: 'fail-after' },
    { kind: 'hang' },
    { kind: 'hang', applied: true },
    { kind: 'duplicate' },
    { kind: 'arrive-late', duration: limit * random.magnitude(-1, 1) },
    { kind: 'answer-late', duration: limit * random.magnitude(-1, 0.5) },
  ])
}

/** A fleet whose leases move from one store to another, and back. */
export const moveScenario: Scenario = {
  workload: live,
  findFault: ({ active, shared }) => {
    const holders = active.filter(({ kind }) => kind === 'holding')
    if (holders.length > 1) return `${holders.map(({ owner }) => owner).join(' and ')} hold at once`
    return (shared.get('world') as World | undefined)?.fault
  },
}
