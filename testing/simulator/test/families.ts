import {
  createLease,
  type Lease,
  LeaseConfigurationError,
  type LeaseStore,
  type StoreLease,
  watchParent,
} from '@leasehold/core'
import type { Scenario, SimulatedProcess } from '@leasehold/simulator'
import { expectLeaseErrors } from '../src/expected-errors.js'
import { breakParents } from './family-operator.js'
import { familyCounts, findFamilyFault, gracesOf, PARENT } from './family-rules.js'

/** The events beside acquiring and releasing. */
interface Customs {
  /** Operators break the parent. */
  readonly breaks?: boolean
  /** Some processes declare no grace, and all try to hand the parent off. */
  readonly handOffs?: boolean
}

/** Every process wants to hold the parent, with a child and a grandchild, and a child under the parent of another process. */
async function live(process: SimulatedProcess, customs: Customs): Promise<void> {
  const works = [holdFamily(process, customs), holdUnderOthers(process)]
  if (customs.breaks === true) works.push(breakParents(process))
  await Promise.all(works)
}

interface Family {
  readonly parent: StoreLease
  readonly children: readonly Lease[]
  /** Whether its parent declares no grace. */
  readonly isPlain: boolean
}

async function holdFamily(process: SimulatedProcess, customs: Customs): Promise<void> {
  const { random, signal, sleep, leaseOptions } = process
  const family = createFamily(process, customs)
  const { parent, children } = family
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  while (!signal.aborted) {
    if (customs.handOffs === true) await expectLeaseErrors(() => takeOver(process, family))
    await expectLeaseErrors(() => parent.acquire({ wait: random.pick([0, ttl, 4 * ttl]), signal }))
    // It keeps the map that it found, with the declaration of an earlier holder in it.
    if (family.isPlain) await expectLeaseErrors(() => parent.update({ ...parent.previous }))
    for (const child of children) await expectLeaseErrors(() => child.acquire({ wait: ttl / 2, signal }))
    await sleep(ttl * random.magnitude(-4, 1))
    if (customs.handOffs === true && random.chance(0.5)) await expectLeaseErrors(() => passOn(process, parent))
    const leaving = random.pick([parent, parent, ...children])
    // Sometimes while a child is being acquired.
    if (random.chance(0.3)) children[0]?.acquire({ wait: ttl }).catch(() => {})
    await expectLeaseErrors(() => leaving.release())
    await sleep(ttl * random.magnitude(-6, 0))
  }
  for (const lease of [parent, ...children]) await expectLeaseErrors(() => lease.release())
}

/** Adopts the parent, if it was handed off to this process. */
async function takeOver(process: SimulatedProcess, { parent }: Family): Promise<void> {
  const offer = process.takeOffer()
  if (offer?.owner !== process.owner || parent.state !== 'idle') return
  await countRefusal(process, async () => {
    if (await parent.adopt(offer)) familyCounts(process.shared).adoptions += 1
  })
}

/** Hands the parent off. If it declares a grace, this is refused, and the parent stays held. */
async function passOn(process: SimulatedProcess, parent: StoreLease): Promise<void> {
  const { random, nodes, ownerOf, offer } = process
  if (!parent.checkLease()) return
  const node = random.whole(0, nodes - 1)
  await countRefusal(process, async () => offer(node, await parent.handOff({ owner: ownerOf(node) })))
}

async function countRefusal({ shared }: SimulatedProcess, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof LeaseConfigurationError)) throw error
    familyCounts(shared).refusedHandOffs += 1
  }
}

function createFamily(process: SimulatedProcess, customs: Customs): Family {
  const { store, leaseOptions, random, show, owner, shared } = process
  const { heartbeatTimeout = 0, heartbeatInterval = 0, operationTimeout = 0 } = leaseOptions
  shared.set('ttl', heartbeatTimeout)
  // Some parents expire, or free the name, before children in other processes look again.
  const part = random.pick([1, 1, 0.5])
  const options = {
    ...leaseOptions,
    heartbeatTimeout: part * heartbeatTimeout,
    heartbeatInterval: part * heartbeatInterval,
    operationTimeout: part * operationTimeout,
  }
  const childGrace = part * heartbeatTimeout * random.pick([0.1, 0.4, 1])
  const isPlain = customs.handOffs === true && random.chance(0.5)
  if (!isPlain) gracesOf(shared).set(owner, childGrace)
  const parent = createLease(store, PARENT, isPlain ? options : { ...options, childGrace })
  const child = createLease(store, 'child', { ...options, parent })
  const grandchild = createLease(store, 'grandchild', { ...options, parent: child })
  parent.on('acquired', () => shared.set(PARENT, owner))
  show({
    kind: 'parent',
    get of() {
      return String(parent.fencingToken)
    },
    isActive: () => parent.checkLease(),
  })
  for (const local of [child, grandchild]) show({ kind: 'child', of: owner, isActive: () => local.checkLease() })
  return { parent, children: [child, grandchild], isPlain }
}

async function holdUnderOthers(process: SimulatedProcess): Promise<void> {
  const { random, signal, sleep, leaseOptions, show, ownerOf, nodes, shared } = process
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  let current: RemoteChild | undefined
  show({
    kind: 'remote',
    get of() {
      return String(current?.parentToken)
    },
    isActive: () => current?.lease.checkLease() === true,
  })
  while (!signal.aborted) {
    const owner = shared.get(PARENT)
    const isKnown = owner !== undefined && random.chance(0.8)
    const watched = isKnown ? String(owner) : ownerOf(random.whole(0, nodes - 1))
    // An observed store refuses that.
    await expectLeaseErrors(async () => {
      current = createRemoteChild(process, watched)
    })
    const lease = current?.lease
    for (let turn = 0; lease !== undefined && turn < 4 && !signal.aborted; turn += 1) {
      await expectLeaseErrors(() => lease.acquire({ wait: ttl / 2, signal }))
      if (!lease.checkLease()) break
      familyCounts(shared).remote += 1
      await sleep(ttl * random.magnitude(-4, 0))
    }
    await expectLeaseErrors(async () => lease?.release())
    await sleep(ttl * random.magnitude(-6, -3))
  }
}

interface RemoteChild {
  readonly lease: StoreLease
  /** The token of the grant of its parent that it had seen last when it was acquired. */
  readonly parentToken: bigint
}

function createRemoteChild({ store, leaseOptions, node }: SimulatedProcess, owner: string): RemoteChild {
  let seenToken = 0n
  let parentToken = 0n
  const observed: LeaseStore = {
    kind: store.kind ?? 'custom',
    limits: store.limits,
    acquire: store.acquire.bind(store),
    renew: store.renew.bind(store),
    release: store.release.bind(store),
    close: store.close.bind(store),
    read: async (name, call) => {
      const record = await store.read(name, call)
      if (record?.owner === owner) seenToken = record.fencingToken
      return record
    },
  }
  const parent = watchParent(observed, PARENT, owner)
  const lease = createLease(store, `of node ${node}`, { ...leaseOptions, parent })
  lease.on('acquired', () => {
    parentToken = seenToken
  })
  return {
    lease,
    get parentToken() {
      return parentToken
    },
  }
}

function familiesWith(customs: Customs): Scenario {
  return { workload: (process) => live(process, customs), findFault: findFamilyFault }
}

/** By their names. */
export const familyScenarios = {
  families: familiesWith({}),
  /** With operators who break the parent. */
  'broken-families': familiesWith({ breaks: true }),
  /** With hand-offs of the parent. */
  'handed-families': familiesWith({ handOffs: true }),
} satisfies Record<string, Scenario>

export type FamilyScenario = keyof typeof familyScenarios
