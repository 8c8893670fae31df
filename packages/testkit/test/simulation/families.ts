import { createLease, type Lease, type LeaseStore, type StoreLease, watchParent } from '@leasehold/core'
import type { FaultKind, Scenario, ScenarioView, SimulatedProcess } from '@leasehold/testkit/simulation'
import { expectLeaseErrors } from '../../src/simulation/expected-errors.js'

/**
 * The faults under which no child may be valid without its parent. An operator who breaks a lease ends it before its
 * children in other processes can know; a client that invents answers spoils its own process.
 */
export const familyFaults: readonly FaultKind[] = [
  'crash',
  'pause',
  'suspend',
  'partition',
  'fading',
  'loss',
  'delay',
  'duplication',
  'store-restart',
  'wall-step',
]

const PARENT = 'parent'

/** Every process wants to hold the parent, with a child and a grandchild, and a child under the parent of another process. */
async function live(process: SimulatedProcess): Promise<void> {
  await Promise.all([holdFamily(process), holdUnderOthers(process)])
}

interface Family {
  readonly parent: StoreLease
  readonly children: readonly Lease[]
}

async function holdFamily(process: SimulatedProcess): Promise<void> {
  const { random, signal, sleep, leaseOptions } = process
  const { parent, children } = createFamily(process)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  while (!signal.aborted) {
    await expectLeaseErrors(() => parent.acquire({ wait: random.pick([0, ttl, 4 * ttl]), signal }))
    for (const child of children) await expectLeaseErrors(() => child.acquire({ wait: ttl / 2, signal }))
    await sleep(ttl * random.magnitude(-4, 1))
    const leaving = random.pick([parent, parent, ...children])
    // Sometimes while a child is being acquired.
    if (random.chance(0.3)) children[0]?.acquire({ wait: ttl }).catch(() => {})
    await expectLeaseErrors(() => leaving.release())
    await sleep(ttl * random.magnitude(-6, 0))
  }
  for (const lease of [parent, ...children]) await expectLeaseErrors(() => lease.release())
}

function createFamily({ store, leaseOptions, random, show, owner, shared }: SimulatedProcess): Family {
  const { heartbeatTimeout = 0, heartbeatInterval = 0, operationTimeout = 0 } = leaseOptions
  // Some parents expire, or free the name, before children in other processes look again.
  const part = random.pick([1, 1, 0.5])
  const options = {
    ...leaseOptions,
    heartbeatTimeout: part * heartbeatTimeout,
    heartbeatInterval: part * heartbeatInterval,
    operationTimeout: part * operationTimeout,
  }
  const childGrace = part * heartbeatTimeout * random.pick([0.1, 0.4, 1])
  const parent = createLease(store, PARENT, { ...options, childGrace })
  const child = createLease(store, 'child', { ...options, parent })
  const grandchild = createLease(store, 'grandchild', { ...options, parent: child })
  parent.on('acquired', ({ fencingToken }) => {
    if (fencingToken > lastOf(shared).fencingToken) shared.set(PARENT, { owner, fencingToken })
  })
  show({ kind: 'parent', of: owner, isActive: () => parent.checkLease() })
  for (const local of [child, grandchild]) show({ kind: 'child', of: owner, isActive: () => local.checkLease() })
  return { parent, children: [child, grandchild] }
}

/** The last grant of a parent that its process knows of. */
interface LastGrant {
  readonly owner: string
  readonly fencingToken: bigint
}

function lastOf(shared: ScenarioView['shared']): LastGrant {
  return (shared.get(PARENT) as LastGrant | undefined) ?? { owner: '', fencingToken: 0n }
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
    const { owner } = lastOf(shared)
    const isKnown = owner !== '' && random.chance(0.8)
    current = createRemoteChild(process, isKnown ? owner : ownerOf(random.whole(0, nodes - 1)))
    const { lease } = current
    for (let turn = 0; turn < 4 && !signal.aborted; turn += 1) {
      await expectLeaseErrors(() => lease.acquire({ wait: ttl / 2, signal }))
      if (!lease.checkLease()) break
      shared.set('remote', remoteGrants(shared) + 1)
      await sleep(ttl * random.magnitude(-4, 0))
    }
    await expectLeaseErrors(() => lease.release())
    await sleep(ttl * random.magnitude(-6, -3))
  }
}

/** How often a child was held under the parent of another process. */
export function remoteGrants(shared: ScenarioView['shared']): number {
  return Number(shared.get('remote') ?? 0)
}

interface RemoteChild {
  readonly lease: StoreLease
  /** The token of the grant of its parent that it has seen last. */
  readonly parentToken: bigint
}

function createRemoteChild({ store, leaseOptions, node }: SimulatedProcess, owner: string): RemoteChild {
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
      if (record !== undefined && record.owner === owner && record.fencingToken > parentToken) {
        parentToken = record.fencingToken
      }
      return record
    },
  }
  const parent = watchParent(observed, PARENT, owner)
  const lease = createLease(store, `of node ${node}`, { ...leaseOptions, parent })
  return {
    lease,
    get parentToken() {
      return parentToken
    },
  }
}

/** A child without its parent, or a child of an old grant of a parent that has a successor. */
function findFault({ active, shared }: ScenarioView): string | undefined {
  const parents = active.filter(({ kind }) => kind === 'parent')
  const [parent, second] = parents
  if (second !== undefined) return `the parent is held by ${parent?.owner} and by ${second.owner}`
  const last = lastOf(shared)
  for (const { kind, of, owner } of active) {
    if (kind === 'child' && parent?.owner !== of) return `${owner} holds a child without its parent`
    if (kind === 'remote' && BigInt(of) < last.fencingToken) {
      return `${owner} holds a child of grant ${of}, and ${last.owner} was granted the parent by ${last.fencingToken}`
    }
  }
  return undefined
}

export const families: Scenario = { workload: live, findFault }
