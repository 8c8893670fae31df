import { type Lease, LeaseHeldError, LeaseProvider, LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { createActor } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { setUp } from './support/guarded-recorder.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** A promise that the test settles. */
function pending() {
  let resolve: (lease: Lease) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<Lease>((...settlers) => {
    ;[resolve, reject] = settlers
  })
  return { promise, resolve, reject }
}

describe('a lease that is made asynchronously', () => {
  it.each(['a promise', 'an async factory'])(
    '%s: messages are stashed until it exists and is granted',
    async (kind) => {
      const { promise, resolve } = pending()
      const lease = new ScriptedLease()
      const { recorder, actor } = setUp({ lease: kind === 'a promise' ? promise : async () => await promise })
      actor.send(message(1))
      await settle()
      expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'acquiringLease' })
      resolve(lease)
      await settle()
      expect(lease.acquires).toBe(1)
      lease.grant()
      await settle()
      expect(actor.getSnapshot().value).toBe('active')
      expect(recorder.handled).toEqual([1])
    },
  )

  it('exists only after the actor was stopped: it is not acquired', async () => {
    const { promise, resolve } = pending()
    const lease = new ScriptedLease()
    const { actor } = setUp({ lease: () => promise })
    actor.stop()
    resolve(lease)
    await settle()
    expect(lease.acquires).toBe(0)
  })

  it('fails only after the actor was stopped: nothing happens', async () => {
    const { promise, reject } = pending()
    const { actor, onError, logger } = setUp({ lease: promise })
    actor.stop()
    reject(new Error('late'))
    await settle()
    expect(onError).not.toHaveBeenCalled()
    expect(logger).not.toHaveBeenCalled()
  })

  it('a promise that rejects before the actor starts: the actor ends with its error, also if the store was away', async () => {
    const error = new LeaseUnavailableError('the store is away')
    const lease = Promise.reject(error)
    const logic = leaseGuarded(new Recorder().worker, { lease })
    await settle()
    const onError = vi.fn()
    const actor = createActor(logic)
    actor.subscribe({ error: onError })
    actor.start()
    await settle()
    expect(onError.mock.calls).toEqual([[error]])
  })

  it.each([
    ['unavailable', new LeaseUnavailableError('the store is away')] as const,
    ['too late', new LeaseTimeoutError('no answer')] as const,
  ])('a factory whose store is %s: it is called again after retryInterval', async (_, error) => {
    const lease = new ScriptedLease()
    const make = vi.fn<() => Promise<Lease>>().mockRejectedValueOnce(error).mockResolvedValue(lease)
    const { recorder, actor, clock } = setUp({ lease: make })
    actor.send(message(1))
    await settle()
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 1, lastError: error, stashed: 1 })
    clock.increment(1_000)
    await settle()
    expect(make).toHaveBeenCalledTimes(2)
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 0, lastError: undefined })
  })

  it('a factory that fails with any other error: the actor ends with it', async () => {
    const error = new LeaseHeldError('no')
    const { onError, clock } = setUp({ lease: () => Promise.reject(error) })
    await settle()
    clock.increment(10_000)
    expect(onError.mock.calls).toEqual([[error]])
  })
})

describe('a lease of a provider', () => {
  const config = { orders: { lease: { leaseClass: 'scripted', leaseRetryInterval: '2s' } } }

  function setUpProvider() {
    const made: { lease: ScriptedLease; owner: string }[] = []
    const provider = new LeaseProvider(config, {
      scripted: ({ name, owner }) => {
        const lease = new ScriptedLease(name)
        made.push({ lease, owner })
        return lease
      },
    })
    return { made, provider }
  }

  it('by reference: name, config path and owner are those given', async () => {
    const { made, provider } = setUpProvider()
    const { actor } = setUp({ lease: { provider, name: 'orders', configPath: 'orders.lease', owner: 'me' } })
    await settle()
    expect(made.map(({ lease, owner }) => [lease.settings.name, owner])).toEqual([['orders', 'me']])
    made[0]?.lease.grant()
    await settle()
    expect(actor.getSnapshot().value).toBe('active')
    actor.stop()
    expect(made[0]?.lease.freed).toBe(1)
  })

  it('a path that is not in the configuration: the actor ends with the error of the provider', async () => {
    const { provider } = setUpProvider()
    const { onError } = setUp({ lease: { provider, name: 'orders', configPath: 'nowhere' } })
    await settle()
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'configuration' }))
  })

  it('attached to the actor system: LeaseProvider.get(system) returns it in a factory', async () => {
    const { made, provider } = setUpProvider()
    const logic = leaseGuarded(new Recorder().worker, {
      lease: ({ self }) => LeaseProvider.get(self.system).getLease('orders', 'orders.lease'),
    })
    const actor = createActor(logic)
    provider.attach(actor.system)
    actor.start()
    await settle()
    made[0]?.lease.grant()
    await settle()
    expect(actor.getSnapshot().value).toBe('active')
    actor.stop()
  })

  it('not attached to the actor system: the actor ends with an error that says what to do', () => {
    const { onError } = setUp({
      lease: ({ self }) => LeaseProvider.get(self.system).getLease('orders', 'orders.lease'),
    })
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining('call provider.attach(actor.system)') }),
    )
  })
})
