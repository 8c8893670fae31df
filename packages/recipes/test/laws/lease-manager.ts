import assert from 'node:assert/strict'
import {
  type AcquireOptions,
  createLease,
  type LeaseLost,
  LeaseUnavailableError,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import { PendingWork } from '../../../testkit/src/laws/pending-work.js'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** The part of `LeaseManager` that its laws use. */
export interface LeaseManagerUnderLaw {
  readonly names: readonly string[]
  get(name: string): StoreLease | undefined
  on(event: 'lost', listener: (name: string, lost: LeaseLost) => void): unknown
  acquireWithAutoRenew(name: string, options?: AcquireOptions): Promise<StoreLease | undefined>
  claimFirst(names: Iterable<string>, options?: AcquireOptions): Promise<StoreLease | undefined>
  release(name: string): Promise<boolean>
  processEach(
    jobs: Iterable<string>,
    worker: (job: string, held: { readonly signal: AbortSignal; readonly fencingToken: bigint }) => Promise<unknown>,
    options?: { readonly concurrency?: number; readonly run?: string },
  ): Promise<{ readonly done: readonly string[]; readonly doneElsewhere: readonly string[] }>
  stop(options?: { readonly timeout?: number }): Promise<void>
}

type Trial = RecipeTrial<LeaseManagerUnderLaw, { readonly concurrency?: number }>

function namesOf(trial: Trial, count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${trial.name}/${place}`)
}

/** A manager that is stopped at the end, and its place. */
async function open(trial: Trial, options: { readonly concurrency?: number } = {}) {
  const place = await trial.place()
  const manager = await trial.create(options, place)
  trial.atEnd(() => manager.stop().catch(() => {}))
  return { place, manager }
}

/** The work of a job: a part of the ttl. */
function work(trial: Trial, { leaseOptions: { clock = systemClock } }: RecipePlace): Promise<void> {
  return new Promise((resolve) => clock.schedule(trial.ttl / 10, resolve))
}

const pendingJob = () => new PendingWork<Parameters<Parameters<LeaseManagerUnderLaw['processEach']>[1]>[1]>()

const notAgain = (): never => assert.fail('the job was done again')

/** The laws get two managers, each in a place of its own. */
const lawsOf = recipeLawsWith(async (trial: Trial) => [await open(trial), await open(trial)])

/** The laws of `LeaseManager`. A lease has the name that it is asked for by, and the ttl of the place. */
export const leaseManagerLaws = [
  ...lawsOf([], {
    'many names are held at once, and stay held for many ttls': async (trial, { manager }) => {
      const names = namesOf(trial, 20)
      const leases = await trial.during(Promise.all(names.map((name) => manager.acquireWithAutoRenew(name))))
      assert(leases.every((lease) => lease?.checkLease() === true))
      await trial.pass(3 * trial.ttl)
      assert.deepEqual(manager.names, names)
      const managed = names.map((name) => manager.get(name))
      assert.deepEqual(managed, leases)
      assert.equal(await trial.during(manager.release(names[0] ?? '')), true)
      assert.deepEqual(manager.names, names.slice(1))
    },

    'a name that another holds is refused, and can be waited for': async (trial, one, other) => {
      assert(await trial.during(one.manager.acquireWithAutoRenew(trial.name)))
      assert.equal(await trial.during(other.manager.acquireWithAutoRenew(trial.name)), undefined)
      const waiting = other.manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      await trial.during(one.manager.release(trial.name))
      assert.equal((await trial.during(waiting))?.checkLease(), true)
    },

    'waiters do not keep other names from being asked for': async (trial, one) => {
      const other = await open(trial, { concurrency: 1 })
      assert(await trial.during(one.manager.acquireWithAutoRenew(trial.name)))
      const waiting = other.manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      waiting.catch(() => {})
      assert(await trial.during(other.manager.acquireWithAutoRenew(`${trial.name}/2`), trial.ttl))
    },

    'claimFirst gets one free name, and each call another one': async (trial, one, other) => {
      const names = namesOf(trial, 3)
      const claims = [
        one.manager.claimFirst(names),
        one.manager.claimFirst(names),
        other.manager.claimFirst(names, { wait: 2 * trial.ttl }),
      ]
      const leases = await trial.during(Promise.all(claims))
      assert.deepEqual(leases.map((lease) => lease?.settings.name).sort(), names)
      assert.equal(await trial.during(other.manager.claimFirst(names)), undefined)
      const waiting = other.manager.claimFirst(names, { wait: 4 * trial.ttl })
      const free = one.manager.names[0] ?? ''
      await trial.during(one.manager.release(free))
      assert.equal((await trial.during(waiting))?.settings.name, free)
    },

    'a loss is one event, with the name': async (trial, { manager, place }) => {
      const losses: string[] = []
      manager.on('lost', (name, { reason }) => losses.push(`${name} ${reason}`))
      const names = namesOf(trial, 3)
      for (const name of names) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      place.cutOff()
      await trial.pass(3 * trial.ttl)
      const expected = names.map((name) => `${name} expired`)
      assert.deepEqual(losses.sort(), expected)
      assert.deepEqual(manager.names, [])
    },

    'stop ends all leases at once, frees the names, and ends waiters': async (trial, { manager }, other) => {
      const names = namesOf(trial, 5)
      for (const name of names) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      assert(await trial.during(other.manager.acquireWithAutoRenew(trial.name)))
      const waiting = manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      const ended = assert.rejects(waiting, LeaseUnavailableError)
      const claiming = assert.rejects(manager.claimFirst([trial.name], { wait: Number.POSITIVE_INFINITY }))
      await trial.pass(trial.ttl / 10)
      const closed = manager.stop()
      assert.deepEqual(manager.names, [])
      await trial.during(Promise.all([closed, ended, claiming]))
      for (const name of names) assert(await trial.during(other.manager.acquireWithAutoRenew(name)))
      await assert.rejects(manager.acquireWithAutoRenew(trial.name), LeaseUnavailableError)
    },

    'stop settles within its deadline when the store does not answer': async (trial, { manager, place }) => {
      for (const name of namesOf(trial, 3)) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      place.cutOff()
      // Shorter than the time limit of one request. In real time a busy machine needs more.
      const longest = trial.time.isVirtual ? trial.ttl / 40 : trial.ttl / 2
      await assert.rejects(trial.during(manager.stop({ timeout: trial.ttl / 100 }), longest), { code: 'timeout' })
      assert.deepEqual(manager.names, [])
    },
  }),

  ...lawsOf(['metadata'], {
    'three processes do each job of a list once': async (trial, one, other) => {
      const jobs = namesOf(trial, 9)
      const members = [one, other, await open(trial)]
      const did: string[] = []
      const each = members.map(({ manager, place }) => {
        const worker = async (job: string): Promise<void> => {
          did.push(job)
          await work(trial, place)
        }
        return manager.processEach(jobs, worker, { concurrency: 2 })
      })
      const results = await trial.during(Promise.all(each), 11 * trial.ttl)
      assert.deepEqual(did.toSorted(), jobs)
      assert.deepEqual(results.flatMap(({ done }) => done).toSorted(), jobs)
      for (const { done, doneElsewhere } of results) assert.deepEqual([...done, ...doneElsewhere].toSorted(), jobs)
    },

    'a list that is done is not done again, unless in another run': async (trial, first) => {
      const jobs = namesOf(trial, 3)
      const did: string[] = []
      const worker = async (job: string): Promise<void> => void did.push(job)
      await trial.during(first.manager.processEach(jobs, worker, { run: 'monday' }))
      await trial.during(first.manager.stop())
      const later = await open(trial)
      const again = later.manager.processEach(jobs, worker, { run: 'monday' })
      assert.deepEqual(await trial.during(again), { done: [], doneElsewhere: jobs })
      assert.equal(did.length, 3)
      assert.deepEqual((await trial.during(later.manager.processEach(jobs, worker, { run: 'tuesday' }))).done, jobs)
      assert.equal(did.length, 6)
    },

    'no more jobs than the concurrency are in progress at the same time': async (trial, { manager, place }) => {
      let [inProgress, most] = [0, 0]
      const worker = async (): Promise<void> => {
        inProgress += 1
        most = Math.max(most, inProgress)
        await work(trial, place)
        inProgress -= 1
      }
      await trial.during(manager.processEach(namesOf(trial, 8), worker, { concurrency: 3 }), 10 * trial.ttl)
      assert.equal(most, 3)
    },

    'the job of a process that died is done again, under a larger token': async (trial, dying, other) => {
      const jobs = namesOf(trial, 3)
      const { run, begun } = pendingJob()
      dying.manager.processEach(jobs, (_, held) => run(held)).catch(() => {})
      const { held } = await trial.during(begun)
      dying.place.cutOff()
      let token = 0n
      const finished = other.manager.processEach(jobs, async (job, { fencingToken }) => {
        if (job !== jobs[0]) return
        assert.equal(held.signal.aborted, true)
        token = fencingToken
      })
      assert.deepEqual((await trial.during(finished)).done, jobs)
      assert(held.fencingToken < token)
    },

    'the name of a job is not free before its mark is confirmed': async (trial, one, other) => {
      let isOver = false
      const marking = one.manager.processEach([trial.name], async () => {
        one.place.cutOff()
        isOver = true
      })
      await trial.until('the work is over', () => isOver)
      const waiting = other.manager.processEach([trial.name], notAgain)
      await trial.pass(trial.ttl / 10)
      one.place.heal()
      const [marked, waited] = await trial.during(Promise.all([marking, waiting]))
      assert.deepEqual([marked.done, waited.done], [[trial.name], []])
    },

    'a mark that was written although its answer was lost counts': async (trial, one, other) => {
      one.place.store.inject({ kind: 'fail-after' }, 'update')
      let works = 0
      const worker = async (): Promise<void> => {
        works += 1
      }
      assert.deepEqual((await trial.during(one.manager.processEach([trial.name], worker))).done, [trial.name])
      await trial.during(other.manager.processEach([trial.name], worker))
      assert.equal(works, 1)
    },

    'a worker that fails does not stop the others, and leaves its job to others': async (trial, { manager }, other) => {
      const jobs = namesOf(trial, 4)
      const failure = new Error('no paper')
      const failing = manager.processEach(jobs, async (job) => {
        if (job === jobs[1]) throw failure
      })
      await assert.rejects(trial.during(failing), (error) => {
        assert(error instanceof AggregateError)
        assert.deepEqual(error.errors, [failure])
        return true
      })
      assert.deepEqual((await trial.during(other.manager.processEach(jobs, async () => {}))).done, [jobs[1]])
    },

    'a store that fails for a while delays the jobs': async (trial, { manager, place }) => {
      const jobs = namesOf(trial, 3)
      for (let call = 0; call < 3; call += 1) place.store.inject({ kind: 'fail-before' }, 'read')
      assert.deepEqual((await trial.during(manager.processEach(jobs, async () => {}))).done, jobs)
    },

    'stop aborts the jobs in progress, which others do at once': async (trial, one, other) => {
      const { run, begun } = pendingJob()
      const processed = one.manager.processEach([trial.name], (_, held) => run(held))
      const ended = assert.rejects(processed, LeaseUnavailableError)
      const { signal } = (await trial.during(begun)).held
      await trial.during(Promise.all([one.manager.stop(), ended]))
      assert.equal(signal.aborted, true)
      const next = other.manager.processEach([trial.name], async () => {})
      assert.deepEqual((await trial.during(next, trial.ttl)).done, [trial.name])
    },

    'a later holder of the name keeps the mark': async (trial, { manager, place }) => {
      await trial.during(manager.processEach([trial.name], async () => {}))
      const lease = createLease(place.store, trial.name, place.leaseOptions)
      assert.equal(await trial.during(lease.acquire()), true)
      await trial.during(lease.release())
      const again = manager.processEach([trial.name], notAgain)
      assert.deepEqual((await trial.during(again)).doneElsewhere, [trial.name])
    },
  }),
]
