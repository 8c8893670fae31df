import { createLease, type Lease, type StoreLease, watchParent } from '@leasehold/core'
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

/** The children under every parent, as a part of the ttl. */
const GRACE = 0.4

/** Every process wants to hold the parent, with a child and a grandchild, and a child under the parent of another process. */
async function live(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, show, owner } = process
  const childGrace = GRACE * (leaseOptions.heartbeatTimeout ?? 0)
  const parent = createLease(store, 'parent', { ...leaseOptions, childGrace })
  const child = createLease(store, 'child', { ...leaseOptions, parent })
  const grandchild = createLease(store, 'grandchild', { ...leaseOptions, parent: child })
  show({ kind: 'parent', of: owner, isActive: () => parent.checkLease() })
  for (const local of [child, grandchild]) show({ kind: 'child', of: owner, isActive: () => local.checkLease() })
  await Promise.all([holdFamily(process, parent, [child, grandchild]), holdUnderOther(process)])
}

async function holdFamily(
  { random, signal, sleep, leaseOptions }: SimulatedProcess,
  parent: StoreLease,
  children: readonly Lease[],
): Promise<void> {
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

async function holdUnderOther(process: SimulatedProcess): Promise<void> {
  const { random, signal, sleep, leaseOptions, store, show, node, ownerOf, nodes } = process
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  while (!signal.aborted) {
    const owner = ownerOf(random.whole(0, nodes - 1))
    const parent = watchParent(store, 'parent', owner)
    const lease = createLease(store, `of node ${node}`, { ...leaseOptions, parent })
    show({ kind: 'remote', of: owner, isActive: () => lease.checkLease() })
    for (let turn = 0; turn < 4 && !signal.aborted; turn += 1) {
      await expectLeaseErrors(() => lease.acquire({ wait: ttl / 2, signal }))
      await sleep(ttl * random.magnitude(-4, 0))
    }
    await expectLeaseErrors(() => lease.release())
    await sleep(ttl * random.magnitude(-5, -2))
  }
}

/** A child without its parent, or a child of an earlier parent beside a later one. */
function findFault({ active }: ScenarioView): string | undefined {
  const parents = active.filter(({ kind }) => kind === 'parent')
  const [parent, second] = parents
  if (second !== undefined) return `the parent is held by ${parent?.owner} and by ${second.owner}`
  for (const { kind, of, owner } of active) {
    if (kind === 'child' && parent?.owner !== of) return `${owner} holds a child without its parent`
    if (kind === 'remote' && parent !== undefined && parent.owner !== of) {
      return `${owner} holds a child of ${of} while ${parent.owner} holds the parent`
    }
  }
  return undefined
}

export const families: Scenario = { workload: live, findFault }
