import { LeaseError } from '@leasehold/core'
import { LeaseManager } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'

/** The jobs of the first list; operators break and delete the record of the first. Later lists have names of their own. */
const JOBS = ['job', 'one'] as const

/** The events of one simulation, over all its processes. */
export class Happenings {
  works = 0
  /** Lists that a process has seen done. */
  lists = 0
  doneElsewhere = 0
  losses = 0
  /** The jobs that a process has seen done. */
  readonly done = new Set<string>()
  /** How often each job was begun. */
  readonly begun = new Map<string, number>()
  /** Jobs that were begun although they were done. */
  readonly again: { readonly job: string; readonly text: string }[] = []
  /** `lists` when the last fault was over. */
  quiet: number | undefined

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }

  begin(job: string, owner: string): void {
    this.works += 1
    this.begun.set(job, (this.begun.get(job) ?? 0) + 1)
    if (this.done.has(job)) this.again.push({ job, text: `${owner} does '${job}' again, which was done` })
  }
}

/** Every process does the jobs of one list after the other; one that was started again finds the first lists done. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, owner, random, shared, signal } = process
  const happenings = Happenings.of(shared)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  const manager = new LeaseManager(store, leaseOptions)
  manager.on('lost', () => {
    happenings.losses += 1
  })
  const working = new Set<string>()
  for (let list = 0; !signal.aborted; list += 1) {
    const jobs = JOBS.map((job) => (list === 0 ? job : `${job}-${list}`))
    for (const job of jobs) {
      process.show({ kind: 'job', of: job, isActive: () => working.has(job) && manager.get(job) !== undefined })
    }
    const worker = async (job: string): Promise<void> => {
      happenings.begin(job, owner)
      working.add(job)
      await process.sleep(ttl * random.magnitude(-5, -1))
      working.delete(job)
    }
    try {
      const concurrency = random.whole(1, 2)
      const { done, doneElsewhere } = await manager.processEach(jobs, worker, { concurrency, signal })
      happenings.lists += 1
      happenings.doneElsewhere += doneElsewhere.length
      for (const job of [...done, ...doneElsewhere]) happenings.done.add(job)
    } catch (error) {
      if (!(error instanceof LeaseError) && !signal.aborted) throw error
    }
    await process.sleep(ttl * random.between(1, 3))
  }
  await manager.stop().catch(() => {})
}

/** Two processes at one job; a job that is done again; without faults: one that was begun twice. */
function findFault({ active, shared, faults, now }: ScenarioView): string | undefined {
  for (const { of, owner } of active) {
    const others = active.filter((other) => other.of === of && other.owner !== owner)
    if (others.length > 0) return `${owner} and ${others[0]?.owner} do '${of}'`
  }
  const happenings = shared.get('happenings') as Happenings | undefined
  if (happenings === undefined) return undefined
  const happened = faults.filter(({ at }) => at <= now).map(({ kind }) => kind)
  if (happened.length === 0) {
    const twice = [...happenings.begun].find(([, times]) => times > 1)
    if (twice !== undefined) return `'${twice[0]}' was begun ${twice[1]} times, although no fault had happened`
  }
  // A deleted record has no mark, and nonsense can spoil one.
  if (happened.includes('nonsense')) return undefined
  return happenings.again.find(({ job }) => job !== 'job' || !happened.includes('forget'))?.text
}

export const scenario: Scenario = {
  workload,
  findFault,
  hasProgressed: ({ shared }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.lists
    return happenings.lists > happenings.quiet
  },
}
