import { LeaseError } from '@leasehold/core'
import { Once } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'

/** The key whose record operators break and delete, and others. */
const KEYS = ['job', 'one', 'two', 'three', 'four', 'five', 'six'] as const

/** The events of one simulation, over all its processes. */
export class Happenings {
  works = 0
  completed = 0
  refused = 0
  unknown = 0
  /** For each key: the outcome that callers got. */
  readonly outcomes = new Map<string, unknown>()
  readonly tokens = new Map<string, bigint>()
  readonly faults: { readonly key: string; readonly text: string }[] = []
  /** `completed` when the last fault was over. */
  quiet: number | undefined

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }

  onWork(key: string, owner: string, token: bigint): void {
    this.works += 1
    if (this.outcomes.has(key)) this.faults.push({ key, text: `${owner} does the work of '${key}' again` })
    const last = this.tokens.get(key)
    if (last !== undefined && token <= last)
      this.faults.push({ key, text: `'${key}' got the token ${token} after ${last}` })
    this.tokens.set(key, token)
  }

  onOutcome(key: string, owner: string, outcome: unknown): void {
    this.completed += 1
    const first = this.outcomes.get(key) ?? outcome
    if (first !== outcome) this.faults.push({ key, text: `${owner} got another outcome of '${key}' than others` })
    this.outcomes.set(key, first)
  }
}

/** Every process runs the keys in any order. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, owner, random, shared, signal } = process
  const happenings = Happenings.of(shared)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  const once = new Once(store, leaseOptions)
  const run = async (key: string): Promise<void> => {
    const [length, fails] = [ttl * random.magnitude(-6, 1), random.chance(0.2)]
    let isDone = false
    try {
      const outcome = await once.run(
        key,
        async ({ fencingToken }) => {
          happenings.onWork(key, owner, fencingToken)
          await process.sleep(length)
          if (fails) throw new LeaseErrorOfWork('the work failed')
          isDone = true
          return { by: owner, token: String(fencingToken) }
        },
        { wait: random.pick([0, ttl, 3 * ttl]), signal },
      )
      happenings.onOutcome(key, owner, JSON.stringify(outcome))
    } catch (error) {
      if (isDone) happenings.unknown += 1
      if (!(error instanceof LeaseError) && !(error instanceof LeaseErrorOfWork) && !signal.aborted) throw error
      happenings.refused += 1
    }
  }
  while (!signal.aborted) {
    const keys = Array.from({ length: random.whole(1, 2) }, () => random.pick(KEYS))
    await Promise.all(keys.map(run))
    await process.sleep(ttl * random.magnitude(-2, 1))
  }
  // It rejects where a release was not confirmed in time.
  await once.stop().catch(() => {})
}

/** Thrown by works, in place of the error of a user. */
class LeaseErrorOfWork extends Error {}

/** The first fault that no planned fault excuses: a deleted record has no mark, and nonsense can spoil one. */
function findFault({ shared, faults, now }: ScenarioView): string | undefined {
  const happenings = shared.get('happenings') as Happenings | undefined
  if (happenings === undefined || happenings.faults.length === 0) return undefined
  const happened = faults.filter(({ at }) => at <= now).map(({ kind }) => kind)
  if (happened.includes('nonsense')) return undefined
  const isForgotten = happened.includes('forget')
  return happenings.faults.find(({ key }) => key !== 'job' || !isForgotten)?.text
}

export const scenario: Scenario = {
  workload,
  findFault,
  hasProgressed: ({ shared }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.completed
    return happenings.completed > happenings.quiet
  },
}
