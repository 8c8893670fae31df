import { LeaseUnavailableError } from '@leasehold/core'
import { LifeCycle } from '@leasehold/core/life-cycle'
import type { AcquireOutcome, RenewOutcome } from '@leasehold/core/store'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { bootOf } from '../src/boot.js'
import { LeaseDatabase } from '../src/lease-database.js'
import { LeaseFolder } from '../src/lease-folder.js'
import { LeaseOperations } from '../src/lease-operations.js'
import { OperationBatch } from '../src/operation-batch.js'
import type { WriteOutcome } from '../src/register-log.js'
import { thisWaiter } from '../src/waiter-process.js'
import { acquisition } from './support/acquisition.js'
import { call } from './support/open-store.js'

interface Fixture {
  readonly clock: VirtualClock
  readonly acquire: (grantId: string, name?: string) => Promise<AcquireOutcome>
  readonly renew: (grantId: string, name: string) => Promise<RenewOutcome>
  /** Acquires for another process, at once. */
  readonly acquireElsewhere: (grantId: string) => void
}

/** Operations of one process; `attempting` runs between their decisions and the write of their changes. */
function setUp(attempting: (attempts: number, fixture: Fixture) => Partial<WriteOutcome> | undefined): Fixture {
  const folder = new LeaseFolder({ folder: temporaryFolder() })
  const clock = new VirtualClock()
  const boot = bootOf({ clock }, folder.path)
  const [own, other] = [new LeaseDatabase(folder, boot), new LeaseDatabase(folder, boot)]
  onTestFinished(() => own.entries.close())
  onTestFinished(() => other.entries.close())
  const request = (grantId: string, name = 'job') => ({ name, owner: grantId, grantId, ttl: 10_000 })
  const operations = new LeaseOperations(own, thisWaiter(), boot)
  const elsewhere = new LeaseOperations(other, thisWaiter(), boot)
  let attempts = 0
  const batch = new OperationBatch(
    {
      refresh: () => own.entries.refresh(),
      attempt: (changes) => {
        attempts += 1
        const accepted = changes.map(() => false)
        const faked = attempting(attempts, fixture)
        return faked === undefined ? own.entries.attempt(changes) : { accepted, ...faked }
      },
    },
    () => {},
  )
  const fixture: Fixture = {
    clock,
    acquire: (grantId, name = 'job') => {
      return batch.add(name, call, () => acquisition(operations, request(grantId, name)))
    },
    renew: (grantId, name) => {
      // The token is larger than any that the store gives, so that only the grant id counts.
      const grant = { ...request(grantId, name), fencingToken: 2n ** 63n }
      const { rules } = operations
      return batch.add(name, call, () => operations.propose(name, (state) => new LifeCycle(rules).renew(grant, state)))
    },
    acquireElsewhere: (grantId) => {
      other.entries.refresh()
      const { change = {} } = acquisition(elsewhere, request(grantId))
      expect(other.entries.attempt([{ key: 'job', change }]).accepted).toEqual([true])
    },
  }
  return fixture
}

it('an operation decides again if another process was faster', async () => {
  const { acquire } = setUp((attempts, { acquireElsewhere }) => {
    if (attempts === 1) acquireElsewhere('faster')
    return undefined
  })
  expect(await acquire('slower')).toMatchObject({ granted: false, holder: { grantId: 'faster' } })
})

it('heartbeats of one turn are in force for each lease that no other process has acquired meanwhile', async () => {
  const { acquire, renew, clock } = setUp((attempts, { acquireElsewhere }) => {
    if (attempts === 2) acquireElsewhere('faster')
    return undefined
  })
  await Promise.all(['job', 'other', 'third'].map((name) => acquire('holder', name)))
  clock.block(10_000)
  const outcomes = await Promise.all(['other', 'job', 'third'].map((name) => renew('holder', name)))
  expect(outcomes).toEqual([
    { renewed: true },
    { renewed: false, reason: 'taken', holder: expect.objectContaining({ grantId: 'faster' }) },
    { renewed: true },
  ])
  expect(await acquire('late', 'third')).toMatchObject({
    granted: false,
    holder: { grantId: 'holder', remaining: 10_000 },
  })
})

it('an operation continues in later turns of the event loop if others are faster again and again', async () => {
  let turns = 0
  let counting: NodeJS.Immediate
  const count = (): void => {
    turns += 1
    counting = setImmediate(count)
  }
  count()
  onTestFinished(() => clearImmediate(counting))
  const { acquire } = setUp((attempts) => (attempts <= 500 ? {} : undefined))
  expect(await acquire('patient')).toMatchObject({ granted: true })
  expect(turns).toBeGreaterThan(3)
})

it('an operation is rejected if it is unknown whether its change was written, and the next one runs', async () => {
  const failure = new LeaseUnavailableError('the disk is full', { store: 'local' })
  const { acquire } = setUp((attempts) => (attempts === 1 ? { failure } : undefined))
  const [first, second] = await Promise.allSettled([acquire('first'), acquire('second')])
  expect(first).toEqual({ status: 'rejected', reason: failure })
  expect(second).toMatchObject({ status: 'fulfilled', value: { granted: true } })
})
