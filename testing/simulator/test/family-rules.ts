import type { ScenarioView } from '@leasehold/simulator'

/** The name of the lease under which the others stand. */
export const PARENT = 'parent'

/** How often something happened in a run. */
export interface FamilyCounts {
  /** A child was held under the parent of another process. */
  remote: number
  /** A break without a period, or with one as long as the grace. */
  gentleBreaks: number
  /** A break with a shorter period. */
  abruptBreaks: number
  /** Steps with a child of an old grant beside a new grant, after such a break. */
  excused: number
  adoptions: number
  refusedHandOffs: number
}

export function familyCounts(shared: ScenarioView['shared']): FamilyCounts {
  return entryOf(shared, 'counts', () => ({
    remote: 0,
    gentleBreaks: 0,
    abruptBreaks: 0,
    excused: 0,
    adoptions: 0,
    refusedHandOffs: 0,
  }))
}

/** The grace that each owner declares for its grants of the parent. */
export function gracesOf(shared: ScenarioView['shared']): Map<string, number> {
  return entryOf(shared, 'graces', () => new Map<string, number>())
}

function entryOf<T>(shared: ScenarioView['shared'], key: string, create: () => T): T {
  if (!shared.has(key)) (shared as Map<string, unknown>).set(key, create())
  return shared.get(key) as T
}

/**
 * A child without its parent; or a child of an old grant of a parent after the store has granted the parent again. The only
 * excuse is a break with a period: for the holder until its ttl is over, for a child in another process until its grace is
 * over, and only if the period is shorter than that.
 */
export function findFamilyFault(view: ScenarioView): string | undefined {
  const { active } = view
  const parents = active.filter(({ kind }) => kind === 'parent')
  for (const { kind, of, owner } of active) {
    if (kind === 'child') {
      if (!parents.some((parent) => parent.owner === owner)) return `${owner} holds a child without its parent`
      continue
    }
    const token = BigInt(of)
    const successor = successorOf(view, token)
    const find = kind === 'remote' ? faultOfChild : faultOfParent
    const fault = successor && find(view, token, successor)
    if (fault !== undefined)
      return `${owner} ${fault}: ${successor?.owner} was granted it by ${successor?.fencingToken}`
    if (kind === 'remote' && graceOf(view, token) === undefined) {
      return `${owner} holds a child of grant ${of}, which declares no grace`
    }
  }
  return undefined
}

type Seen = ScenarioView['grants'][number]

/**
 * The next grant of the parent. A request that arrives a second time, late and after a break, gets a new token under the same
 * grant id: that is the same claim of the same owner.
 */
function successorOf(view: ScenarioView, token: bigint): Seen | undefined {
  const later: Seen[] = []
  const parents = parentGrants(view)
  // From the last one on, as it runs after each step: tokens grow, which the simulator checks.
  for (let place = parents.length - 1; place >= 0; place -= 1) {
    const grant = parents[place]
    if (grant === undefined || grant.fencingToken < token) break
    if (grant.fencingToken === token) return later.findLast(({ grantId }) => grantId !== grant.grantId)
    if (isOfProcess(grant)) later.push(grant)
  }
  return later.at(-1)
}

/** The grants of the parent. Those of its children are many more. */
function parentGrants({ grants, shared }: ScenarioView): readonly Seen[] {
  const known = entryOf(shared, 'grants of the parent', () => ({ seen: 0, parents: [] as Seen[] }))
  for (; known.seen < grants.length; known.seen += 1) {
    const grant = grants[known.seen]
    if (grant?.name === PARENT) known.parents.push(grant)
  }
  return known.parents
}

/** Not the grant that keeps the name locked after a release. */
function isOfProcess({ owner }: Seen): boolean {
  return owner.startsWith('node-')
}

function faultOfChild(view: ScenarioView, token: bigint, successor: Seen): string | undefined {
  const grace = graceOf(view, token) ?? 0
  if (!isBrokenWithin(view, token, successor, grace)) return `holds a child of grant ${token}`
  familyCounts(view.shared).excused += 1
  return undefined
}

function faultOfParent(view: ScenarioView, token: bigint, successor: Seen): string | undefined {
  const ttl = Number(view.shared.get('ttl'))
  return isBrokenWithin(view, token, successor, ttl) ? undefined : `holds the parent by ${token}`
}

function graceOf(view: ScenarioView, token: bigint): number | undefined {
  const grant = parentGrants(view).findLast(({ fencingToken }) => fencingToken === token)
  return grant === undefined ? undefined : gracesOf(view.shared).get(grant.owner)
}

/** Whether the grant, or the one that kept the name locked after it, was broken within this time, with a shorter period. */
function isBrokenWithin({ breaks, now }: ScenarioView, token: bigint, successor: Seen, duration: number): boolean {
  return breaks.some(
    ({ name, fencingToken, period, at }) =>
      name === PARENT &&
      fencingToken >= token &&
      fencingToken < successor.fencingToken &&
      period !== undefined &&
      period < duration &&
      now < at + duration,
  )
}
