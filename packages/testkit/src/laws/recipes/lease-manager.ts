import assert from 'node:assert/strict'
import {
  type AcquireOptions,
  createLease,
  type LeaseLost,
  LeaseUnavailableError,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from '../recipe-trial.js'

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
  close(options?: { readonly within?: number }): Promise<void>
}

type Trial = RecipeTrial<LeaseManagerUnderLaw, { readonly concurrency?: number }>

const lawsOf = recipeLawsWith(async (_: Trial) => [])

function namesOf(trial: Trial, count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${trial.name}/${place}`)
}

/** A manager that is closed at the end, and its place. */
async function open(trial: Trial, options: { readonly concurrency?: number } = {}) {
  const place = await trial.place()
  const manager = await trial.create(options, place)
  trial.atEnd(() => manager.close().catch(() => {}))
  return { place, manager }
}

/** The work of a job: a part of the ttl. */
function work(trial: Trial, { leaseOptions: { clock = systemClock } }: RecipePlace): Promise<void> {
  return new Promise((resolve) => clock.schedule(trial.ttl / 10, resolve))
}

const endless = (): Promise<never> => new Promise(() => {})

/** The laws of `LeaseManager`. A lease has the name that it is asked for by, and the ttl of the place. */
export const leaseManagerLaws = [
  ...lawsOf([], {
    'many names are held at once, and stay held for many ttls': async (trial) => {
      const { manager } = await open(trial)
      const names = namesOf(trial, 20)
      const leases = await trial.during(Promise.all(names.map((name) => manager.acquireWithAutoRenew(name))))
      assert(leases.every((lease) => lease?.checkLease() === true))
      await trial.pass(3 * trial.ttl)
      assert.deepEqual(manager.names, names)
      assert.deepEqual(
        names.map((name) => manager.get(name)),
        leases,
      )
      assert.equal(await trial.during(manager.release(names[0] ?? '')), true)
      assert.deepEqual(manager.names, names.slice(1))
    },

    'a name that another holds is refused, and can be waited for': async (trial) => {
      const [one, other] = [await open(trial), await open(trial)]
      assert(await trial.during(one.manager.acquireWithAutoRenew(trial.name)))
      assert.equal(await trial.during(other.manager.acquireWithAutoRenew(trial.name)), undefined)
      const waiting = other.manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      await trial.during(one.manager.release(trial.name))
      assert.equal((await trial.during(waiting))?.checkLease(), true)
    },

    'waiters do not keep other names from being asked for': async (trial) => {
      const [one, other] = [await open(trial), await open(trial, { concurrency: 1 })]
      assert(await trial.during(one.manager.acquireWithAutoRenew(trial.name)))
      const waiting = other.manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      waiting.catch(() => {})
      assert(await trial.during(other.manager.acquireWithAutoRenew(`${trial.name}/2`), trial.ttl))
    },

    'claimFirst gets one free name, and each call another one': async (trial) => {
      const [one, other] = [await open(trial), await open(trial)]
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

    'a loss is one event, with the name': async (trial) => {
      const { manager, place } = await open(trial)
      const losses: string[] = []
      manager.on('lost', (name, { reason }) => losses.push(`${name} ${reason}`))
      const names = namesOf(trial, 3)
      for (const name of names) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      place.cutOff()
      await trial.pass(3 * trial.ttl)
      assert.deepEqual(
        losses.sort(),
        names.map((name) => `${name} expired`),
      )
      assert.deepEqual(manager.names, [])
    },

    'close ends all leases at once, frees the names, and ends waiters': async (trial) => {
      const [{ manager }, other] = [await open(trial), await open(trial)]
      const names = namesOf(trial, 5)
      for (const name of names) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      assert(await trial.during(other.manager.acquireWithAutoRenew(trial.name)))
      const waiting = manager.acquireWithAutoRenew(trial.name, { wait: Number.POSITIVE_INFINITY })
      const ended = assert.rejects(waiting, LeaseUnavailableError)
      const claiming = assert.rejects(manager.claimFirst([trial.name], { wait: Number.POSITIVE_INFINITY }))
      await trial.pass(trial.ttl / 10)
      const closed = manager.close()
      assert.deepEqual(manager.names, [])
      await trial.during(Promise.all([closed, ended, claiming]))
      for (const name of names) assert(await trial.during(other.manager.acquireWithAutoRenew(name)))
      await assert.rejects(manager.acquireWithAutoRenew(trial.name), LeaseUnavailableError)
    },

    'close settles within its deadline when the store does not answer': async (trial) => {
      const { manager, place } = await open(trial)
      for (const name of namesOf(trial, 3)) assert(await trial.during(manager.acquireWithAutoRenew(name)))
      place.cutOff()
      // Shorter than the time limit of one request. In real time a busy machine needs more.
      const longest = trial.time.isVirtual ? trial.ttl / 40 : trial.ttl / 2
      await assert.rejects(trial.during(manager.close({ within: trial.ttl / 100 }), longest), { code: 'timeout' })
      assert.deepEqual(manager.names, [])
    },
  }),

  ...lawsOf(['metadata'], {
    'three processes do each job of a list once': async (trial) => {
      const jobs = namesOf(trial, 9)
      const members = [await open(trial), await open(trial), await open(trial)]
      const did: string[] = []
      const each = members.map(({ manager, place }) =>
        manager.processEach(
          jobs,
          async (job) => {
            did.push(job)
            await work(trial, place)
          },
          { concurrency: 2 },
        ),
      )
      const results = await trial.during(Promise.all(each), 11 * trial.ttl)
      assert.deepEqual(did.toSorted(), jobs)
      assert.deepEqual(results.flatMap(({ done }) => done).toSorted(), jobs)
      for (const { done, doneElsewhere } of results) assert.deepEqual([...done, ...doneElsewhere].toSorted(), jobs)
    },

    'a list that is done is not done again, unless in another run': async (trial) => {
      const jobs = namesOf(trial, 3)
      const first = await open(trial)
      const did: string[] = []
      const worker = async (job: string): Promise<void> => void did.push(job)
      await trial.during(first.manager.processEach(jobs, worker, { run: 'monday' }))
      await trial.during(first.manager.close())
      const later = await open(trial)
      const again = later.manager.processEach(jobs, worker, { run: 'monday' })
      assert.deepEqual(await trial.during(again), { done: [], doneElsewhere: jobs })
      assert.equal(did.length, 3)
      assert.deepEqual((await trial.during(later.manager.processEach(jobs, worker, { run: 'tuesday' }))).done, jobs)
      assert.equal(did.length, 6)
    },

    'no more jobs than the concurrency are in progress at the same time': async (trial) => {
      const { manager, place } = await open(trial)
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

    'the job of a process that died is done again, under a larger token': async (trial) => {
      const [dying, other] = [await open(trial), await open(trial)]
      const jobs = namesOf(trial, 3)
      const tokens: bigint[] = []
      let lost: AbortSignal | undefined
      const dead = dying.manager.processEach(jobs, (_, { fencingToken, signal }) => {
        tokens.push(fencingToken)
        lost = signal
        return endless()
      })
      dead.catch(() => {})
      await trial.until('a job is begun', () => tokens.length > 0)
      dying.place.cutOff()
      const finished = other.manager.processEach(jobs, async (job, { fencingToken }) => {
        if (job !== jobs[0]) return
        assert.equal(lost?.aborted, true)
        tokens.push(fencingToken)
      })
      assert.deepEqual((await trial.during(finished)).done, jobs)
      assert(tokens[0] !== undefined && tokens[1] !== undefined && tokens[0] < tokens[1])
    },

    'the name of a job is not free before its mark is confirmed': async (trial) => {
      const [one, other] = [await open(trial), await open(trial)]
      let isOver = false
      const marking = one.manager.processEach([trial.name], async () => {
        one.place.cutOff()
        isOver = true
      })
      await trial.until('the work is over', () => isOver)
      const waiting = other.manager.processEach([trial.name], () => assert.fail('the job was done again'))
      await trial.pass(trial.ttl / 10)
      one.place.heal()
      const results = await trial.during(Promise.all([marking, waiting]))
      assert.deepEqual(
        results.map(({ done }) => done),
        [[trial.name], []],
      )
    },

    'a mark that was written although its answer was lost counts': async (trial) => {
      const [one, other] = [await open(trial), await open(trial)]
      one.place.store.inject({ kind: 'fail-after' }, 'update')
      let works = 0
      const worker = async (): Promise<void> => {
        works += 1
      }
      assert.deepEqual((await trial.during(one.manager.processEach([trial.name], worker))).done, [trial.name])
      await trial.during(other.manager.processEach([trial.name], worker))
      assert.equal(works, 1)
    },

    'a worker that fails does not stop the others, and leaves its job to others': async (trial) => {
      const jobs = namesOf(trial, 4)
      const { manager } = await open(trial)
      const failure = new Error('no paper')
      const failing = manager.processEach(jobs, async (job) => {
        if (job === jobs[1]) throw failure
      })
      await assert.rejects(trial.during(failing), (error) => {
        assert(error instanceof AggregateError)
        assert.deepEqual(error.errors, [failure])
        return true
      })
      const other = await open(trial)
      assert.deepEqual((await trial.during(other.manager.processEach(jobs, async () => {}))).done, [jobs[1]])
    },

    'a store that fails for a while delays the jobs': async (trial) => {
      const { manager, place } = await open(trial)
      const jobs = namesOf(trial, 3)
      for (let call = 0; call < 3; call += 1) place.store.inject({ kind: 'fail-before' }, 'read')
      assert.deepEqual((await trial.during(manager.processEach(jobs, async () => {}))).done, jobs)
    },

    'close aborts the jobs in progress, which others do at once': async (trial) => {
      const [one, other] = [await open(trial), await open(trial)]
      let signal: AbortSignal | undefined
      const ended = assert.rejects(
        one.manager.processEach([trial.name], (_, held) => {
          signal = held.signal
          return endless()
        }),
        LeaseUnavailableError,
      )
      await trial.until('the job is begun', () => signal !== undefined)
      await trial.during(Promise.all([one.manager.close(), ended]))
      assert.equal(signal?.aborted, true)
      const next = other.manager.processEach([trial.name], async () => {})
      assert.deepEqual((await trial.during(next, trial.ttl)).done, [trial.name])
    },

    'a later holder of the name keeps the mark': async (trial) => {
      const { manager, place } = await open(trial)
      await trial.during(manager.processEach([trial.name], async () => {}))
      const lease = createLease(place.store, trial.name, place.leaseOptions)
      assert.equal(await trial.during(lease.acquire()), true)
      await trial.during(lease.release())
      const again = manager.processEach([trial.name], () => assert.fail('the job was done again'))
      assert.deepEqual((await trial.during(again)).doneElsewhere, [trial.name])
    },
  }),
]
