import { LeaseError } from '@leasehold/core'
import { type Leader, LeaderElection } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { Elections } from './elections.js'

/** The name that simulated operators break and delete. */
const NAME = 'job'

/** How often a process observes, from 0 to 1: each observer costs many requests. */
const OBSERVERS = 0.15

const CANDIDATES = 3

/** The present candidacy of a process. */
interface Candidacy {
  election: LeaderElection | undefined
  isObserving: boolean
  /** The leader as observed last; `null` if nothing was observed. */
  observed: Leader | undefined | null
}

/** One candidacy of a process: it campaigns for `duration`. */
async function campaign(process: SimulatedProcess, candidacy: Candidacy, ttl: number, duration: number): Promise<void> {
  const { store, leaseOptions, owner, random, shared, sleep } = process
  const elections = Elections.of(shared)
  let works = 0
  const onElected = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    works += 1
    if (works > 1) elections.fault ??= `a term of ${owner} began before the work of the last one had ended`
    const length = random.chance(0.5) ? ttl * random.magnitude(-3, 1) : Number.POSITIVE_INFINITY
    await Promise.race([sleep(length), new Promise((resolve) => signal.addEventListener('abort', resolve))])
    // Work that needs a while to end.
    if (random.chance(0.5)) await sleep(ttl * random.magnitude(-7, 0))
    works -= 1
    if (random.chance(0.1)) throw new Error('of the work')
  }
  const election = new LeaderElection(store, {
    ...leaseOptions,
    name: NAME,
    metadata: { of: owner },
    resignPause: ttl * random.magnitude(-6, -2),
    stopTimeout: 3 * ttl,
    ...(random.chance(0.8) ? { onElected } : {}),
    ...(canTransfer(process) ? { rank: () => Math.floor(3 * random.between(0, 1)), preempt: random.chance(0.1) } : {}),
  })
  election.on('elected', (term) => elections.onElected(term, owner))
  election.on('lost', () => elections.onEnded('lost'))
  election.on('resigned', () => elections.onEnded('resigned'))
  candidacy.election = election
  const observing = random.chance(OBSERVERS) ? observe(election, candidacy, elections) : undefined
  election.start()
  if (random.chance(0.3)) await resignAfter(process, election, Math.min(duration, 3 * ttl) / 2)
  if (canTransfer(process)) await transferWithin(process, election, elections, Math.min(duration, 4 * ttl))
  else await sleep(duration)
  await election.stop(canTransfer(process) && random.chance(0.5) ? { transfer: 'best' } : {})
  if (works > 0) elections.fault ??= `the work of ${owner} went on after stop had resolved`
  await observing
  candidacy.election = undefined
}

async function resignAfter({ sleep }: SimulatedProcess, election: LeaderElection, pause: number): Promise<void> {
  await sleep(pause)
  await election.resign()
}

function canTransfer({ store }: SimulatedProcess): boolean {
  return store.list !== undefined && store.change !== undefined && store.limits.metadata !== 0
}

/** Transfers the leadership a few times, whenever this process leads. */
async function transferWithin(
  { random, sleep }: SimulatedProcess,
  election: LeaderElection,
  elections: Elections,
  duration: number,
): Promise<void> {
  for (let left = duration; left > 0; ) {
    const pause = Math.min(left, duration * random.magnitude(-3, 0))
    await sleep(pause)
    left -= pause
    if (!election.isLeader || election.term === undefined) continue
    const { term } = election
    try {
      const next = await election.transferTo('best')
      elections.onTransferred(term, next.term)
    } catch (error) {
      // No candidate, a loss, or an unknown outcome.
      if (!(error instanceof LeaseError)) elections.fault ??= `a transfer failed with ${error}`
    }
  }
}

async function observe(election: LeaderElection, candidacy: Candidacy, elections: Elections): Promise<void> {
  candidacy.isObserving = true
  candidacy.observed = null
  let lastTerm = -1n
  // Ends with the election.
  for await (const leader of election.observe()) {
    elections.onObserved(candidacy.observed, lastTerm, leader)
    candidacy.observed = leader
    lastTerm = leader?.term ?? lastTerm
  }
  candidacy.isObserving = false
}

function showCandidacy({ shared, show }: SimulatedProcess): Candidacy {
  const elections = Elections.of(shared)
  const candidacy: Candidacy = { election: undefined, isObserving: false, observed: null }
  const isInformed = (): boolean => candidacy.observed !== null && elections.isLatest(candidacy.observed)
  show({ kind: 'term', of: NAME, isActive: () => candidacy.election?.isLeader === true })
  show({ kind: 'uninformed', of: NAME, isActive: () => candidacy.isObserving && !isInformed() })
  return candidacy
}

/**
 * Three processes are candidates, and some of them observe. They end terms, leave and come back; one of them stays to the end.
 * More processes, and longer candidacies, would cost time and find nothing more.
 */
export const scenario: Scenario = {
  workload: async (process) => {
    const { clock, leaseOptions, node, random, signal } = process
    const ttl = leaseOptions.heartbeatTimeout ?? 0
    const until = node === 0 ? Number.POSITIVE_INFINITY : clock.now() + ttl * random.between(1, 4)
    if (node >= CANDIDATES) return
    const candidacy = showCandidacy(process)
    while (!signal.aborted && clock.now() < until) {
      const left = until - clock.now()
      await campaign(process, candidacy, ttl, random.chance(0.4) ? Math.min(ttl * random.magnitude(-3, 3), left) : left)
    }
  },
  findFault: ({ active, shared }) => {
    if (leaders(active).length > 1) return `two terms at once: of ${leaders(active).join(' and ')}`
    return Elections.of(shared as Map<string, unknown>).fault
  },
  hasProgressed: ({ active }) => leaders(active).length === 1 && active.every(({ kind }) => kind !== 'uninformed'),
}

function leaders(active: ScenarioView['active']): readonly string[] {
  return active.filter(({ kind }) => kind === 'term').map(({ owner }) => owner)
}
