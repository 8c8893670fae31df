import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { handled } from '../handled.js'
import { heldLeaseLawsOf, type LeaseLaw, leaseLawsOf, type TrialLease } from '../lease-trial.js'

const wait = Number.POSITIVE_INFINITY

/** Waits for the lease, notes that it was granted, and releases it. */
async function takeTurn<T>({ lease }: TrialLease, served: T[], name: T): Promise<void> {
  if (!(await lease.acquire({ wait }))) return
  served.push(name)
  await lease.release()
}

export const leaseWaitingLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('waiting', ['wait'], {
    async 'a waiter is granted the lease after a release'(trial, holder) {
      const waiter = await trial.open()
      const granted = waiter.acquire({ wait })
      await trial.pass(trial.interval)
      assert.equal(waiter.lease.checkLease(), false)
      await trial.during(holder.lease.release())
      assert.equal(await trial.during(granted), true)
      assert.equal(waiter.lease.checkLease(), true)
    },
    async 'each of ten waiters is granted the lease once'(trial, holder) {
      const waiters = await Promise.all(Array.from({ length: 10 }, () => trial.open()))
      const served: number[] = []
      const turns = waiters.map((waiter, place) => takeTurn(waiter, served, place))
      await trial.pass(trial.interval)
      await trial.during(holder.lease.release())
      await trial.during(Promise.all(turns), 20 * trial.ttl)
      const places = served.toSorted((one, other) => one - other)
      assert.deepEqual(places, [...waiters.keys()])
    },
    async 'a signal ends the wait at once, and does not affect the holder'(trial, holder) {
      const waiter = await trial.open()
      const controller = new AbortController()
      const granted = waiter.acquire({ wait, signal: controller.signal })
      const rejected = handled(assert.rejects(granted, /enough/))
      await trial.pass(trial.interval / 5)
      controller.abort(new Error('enough'))
      await rejected
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
      assert.equal(holder.lease.checkLease(), true)
    },
    async 'a waiter that gave up is not granted the lease afterwards'(trial, holder) {
      const waiter = await trial.open()
      const controller = new AbortController()
      const rejected = handled(assert.rejects(waiter.acquire({ wait, signal: controller.signal })))
      await trial.pass(trial.interval / 5)
      controller.abort()
      await rejected
      await trial.during(holder.lease.release())
      const other = await trial.open()
      assert.equal(await trial.during(other.acquire({ wait: 2 * trial.ttl })), true)
      assert.equal(waiter.lease.checkLease(), false)
    },
    async 'acquire returns false at the end of the wait'(trial) {
      const waiter = await trial.open()
      assert.equal(await trial.during(waiter.acquire({ wait: trial.ttl / 2 })), false)
    },
  }),
  ...heldLeaseLawsOf('waiting', ['wait', 'store'], {
    async 'a waiter is granted the lease of a holder that has died'(trial, holder) {
      const waiter = await trial.open()
      const granted = waiter.acquire({ wait })
      await trial.pass(trial.interval)
      await holder.cutOff()
      assert.equal(await trial.during(granted, trial.takeover), true)
      assert.equal(holder.lease.checkLease(), false)
    },
  }),
  ...heldLeaseLawsOf('waiting', ['wait', 'queue'], {
    async 'the waiter that has waited longest is granted the lease first'(trial, holder) {
      const served: number[] = []
      const turns: Promise<void>[] = []
      for (let place = 0; place < 5; place += 1) {
        turns.push(takeTurn(await trial.open(), served, place))
        await trial.pass(trial.interval)
      }
      await trial.during(holder.lease.release())
      await trial.during(Promise.all(turns))
      assert.deepEqual(served, [0, 1, 2, 3, 4])
    },
  }),
  ...heldLeaseLawsOf('waiting', ['wait', 'queue', 'store'], {
    async 'the lease passes over a waiter that has died'(trial, holder) {
      const [first, dead, last] = [await trial.open(), await trial.open(), await trial.open()]
      const served: string[] = []
      const turns = [takeTurn(first, served, 'first')]
      await trial.pass(trial.interval)
      void handled(takeTurn(dead, served, 'dead'))
      await trial.pass(trial.interval)
      turns.push(takeTurn(last, served, 'last'))
      await trial.pass(trial.interval)
      await dead.cutOff()
      await trial.during(holder.lease.release())
      await trial.during(Promise.all(turns), 3 * trial.ttl)
      assert.deepEqual(served, ['first', 'last'])
    },
  }),
  ...leaseLawsOf('waiting', [], {
    async 'acquire rejects when its signal has aborted before, and holds nothing'(trial) {
      const { lease } = await trial.open()
      await assert.rejects(lease.acquire({ signal: AbortSignal.abort(new Error('enough')) }), /enough/)
      assert.equal(lease.checkLease(), false)
      await trial.openHeld()
    },
    async 'a signal that aborts after the grant does not end the lease'(trial) {
      const { lease } = await trial.open()
      const controller = new AbortController()
      assert.equal(await trial.during(lease.acquire({ signal: controller.signal })), true)
      controller.abort()
      await trial.pass(trial.interval / 10)
      assert.equal(lease.checkLease(), true)
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    },
  }),
]
