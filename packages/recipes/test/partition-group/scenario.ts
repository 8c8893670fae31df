import { breakLease } from '@leasehold/core'
import { type AssignedPartition, PartitionGroup } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'

/** The numbers of partitions that are deployed, in most schedules only the first. */
const NUMBERS = [3, 4] as const

/** More workers would only cost time. */
const WORKERS = 3

/** The least position that the next owner of a partition finds, and the token of the last one. */
interface Progress {
  least: number
  readonly token: bigint
}

/** Of each partition. */
function progressOf(shared: Map<string, unknown>): Map<number, Progress> {
  const progress = (shared.get('progress') as Map<number, Progress> | undefined) ?? new Map<number, Progress>()
  shared.set('progress', progress)
  return progress
}

/** The nodes whose workers do not leave of their own accord, and the number of partitions that each was given. */
function stayingNodes(shared: Map<string, unknown>): Map<number, number> {
  const nodes = (shared.get('staying') as Map<number, number> | undefined) ?? new Map<number, number>()
  shared.set('staying', nodes)
  return nodes
}

/** Notes a broken rule for `findFault`. */
function note(shared: Map<string, unknown>, fault: string): void {
  if (!shared.has('fault')) shared.set('fault', fault)
}

async function workload({
  store,
  leaseOptions,
  show,
  shared,
  sleep,
  signal,
  random,
  node,
  owner,
  clock,
}: SimulatedProcess) {
  if (node >= WORKERS) return await untilAborted(signal)
  const positions = progressOf(shared)
  const tokens = new Map<number, bigint>()
  const working = new Map<number, AssignedPartition>()
  const [usual, other] = NUMBERS
  const partitions = random.chance(0.2) ? other : usual
  for (let partition = 0; partition < partitions; partition += 1) {
    show({ kind: 'partition', of: String(partition), isActive: () => working.get(partition)?.checkLease() === true })
  }
  // As few heartbeats as the settings admit: they are tested elsewhere.
  const { heartbeatTimeout = 1_000, operationTimeout = 100 } = leaseOptions
  const heartbeatInterval = (heartbeatTimeout - operationTimeout) * 0.3
  const onAssigned = async (assigned: AssignedPartition): Promise<void> => {
    const { partition, position, fencingToken } = assigned
    const start = Number(position ?? 0)
    const least = positions.get(partition)?.least ?? 0
    // A client that answers with nonsense may drop the position.
    const isKnown = typeof position === 'string'
    if (isKnown && start < least) note(shared, `${owner} found ${position} of ${partition}, not ${least} or more`)
    positions.set(partition, { least: isKnown ? Math.max(start, least) : 0, token: fencingToken })
    const before = tokens.get(partition)
    if (before !== undefined && fencingToken <= before) note(shared, `${owner} got the token ${fencingToken} again`)
    tokens.set(partition, fencingToken)
    working.set(partition, assigned)
    shared.set('assignments', (Number(shared.get('assignments')) || 0) + 1)
    let next = start
    while (!assigned.signal.aborted) {
      await sleep(heartbeatInterval * random.between(0.5, 6))
      if (signal.aborted) break
      next += 1
      if (!(await assigned.save(String(next)))) continue
      shared.set('saves', (Number(shared.get('saves')) || 0) + 1)
      // A repeated request may come late and put an earlier position of the same owner back, but none from before it.
      const progress = positions.get(partition)
      if (progress?.token === fencingToken) progress.least = start + 1
    }
    if (working.get(partition) === assigned) working.delete(partition)
    if (random.chance(0.05)) throw new Error('the work failed')
  }
  const group = new PartitionGroup(store, {
    name: 'job',
    partitions,
    onAssigned,
    stopTimeout: heartbeatInterval * random.between(0, 3),
    rebalanceInterval: heartbeatInterval,
    ...leaseOptions,
    heartbeatInterval,
    // The group renews its leases by itself.
    strategy: leaseOptions.strategy === 'manual' ? 'interval' : leaseOptions.strategy,
  })
  // Workers come one after the other.
  if (owner.endsWith('.1')) await sleep(heartbeatTimeout * random.between(0, node === 0 ? 2 : 5))
  group.start()
  stayingNodes(shared).set(node, partitions)
  if (random.chance(0.1)) {
    // An operator breaks one of the leases; it stays locked for the rest of its ttl.
    await sleep(heartbeatInterval * random.between(5, 30))
    const name = random.pick(['partitions', 'members'])
    await breakLease(store, `job/${name}/${random.whole(0, 3)}`, { timeout: 1_000, clock }).catch(() => {})
  }
  if (node > 0 && random.chance(0.3)) {
    // It leaves before the end, and others take over.
    await sleep(heartbeatInterval * random.between(5, 60))
    stayingNodes(shared).delete(node)
    await group.stop()
  }
  await untilAborted(signal)
  await group.stop()
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function findFault({ active, shared }: ScenarioView): string | undefined {
  const owners = new Map<string, string>()
  for (const { of, owner } of active) {
    const other = owners.get(of)
    if (other !== undefined) return `two owners of partition ${of}: ${other} and ${owner}`
    owners.set(of, owner)
  }
  return shared.get('fault') as string | undefined
}

/**
 * Whether every partition that a worker knows has an owner, and no worker that stays could give one to another that knows it
 * and has at least two fewer.
 */
function isBalanced({ active, shared }: ScenarioView): boolean {
  const staying = (shared.get('staying') as Map<number, number> | undefined) ?? new Map<number, number>()
  const owned = active.map(({ of }) => Number(of)).sort((one, other) => one - other)
  const known = Math.max(...staying.values())
  if (owned.length !== known || owned.some((partition, place) => partition !== place)) return false
  const shares = Array.from(staying, ([node, number]) => {
    const own = active.filter(({ owner }) => owner.startsWith(`node-${node}.`))
    return { number, lowest: Math.min(...own.map(({ of }) => Number(of))), count: own.length }
  })
  return shares.every(({ count, lowest }) =>
    shares.every((other) => lowest >= other.number || count - other.count <= 1),
  )
}

/** Three or four partitions, and workers that come, stall, die, leave and are deployed with another number of partitions. */
export const scenario: Scenario = { workload, findFault, hasProgressed: isBalanced }
