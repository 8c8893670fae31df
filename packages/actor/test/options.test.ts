import { LeaseConfigurationError, LeaseProvider } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { type AnyActorRef, createActor } from 'xstate'
import { type LeaseGuardedOptions, leaseGuarded } from '../src/index.js'
import { Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

describe('options', () => {
  const { worker } = new Recorder()
  const good = { lease: new ScriptedLease(), retryInterval: 1_000 }
  const wrong: [string, unknown][] = [
    ['retryInterval', { ...good, retryInterval: 0 }],
    ['retryInterval', { ...good, retryInterval: -1 }],
    ['wait', { ...good, wait: -1 }],
    ['wait', { ...good, wait: Number.NaN }],
    ['retryInterval', { ...good, retryInterval: Number.NaN }],
    ['retryInterval', { ...good, retryInterval: Number.POSITIVE_INFINITY }],
    ['retryInterval', { ...good, retryInterval: '5s' }],
    ['lease', { retryInterval: 1_000 }],
    ['lease', { ...good, lease: {} }],
    ['lease', { ...good, lease: { acquire: 1, release: 2, checkLease: 3 } }],
    ['stash', { ...good, stash: null }],
    ['options', undefined],
    ['stash.capacity', { ...good, stash: { capacity: 0 } }],
    ['stash.capacity', { ...good, stash: { capacity: -1 } }],
    ['stash.capacity', { ...good, stash: { capacity: 1.5 } }],
    ['stash.capacity', { ...good, stash: { capacity: Number.NaN } }],
    ['stash.overflow', { ...good, stash: { overflow: 'block' } }],
    ['onLeaseLost', { ...good, onLeaseLost: 'retry' }],
    ['lease', { ...good, lease: { provider: {}, name: 'orders', configPath: 'orders.lease' } }],
    ['lease', { ...good, lease: { provider: new LeaseProvider({}), name: 'orders' } }],
    ['whileAcquiring', { ...good, whileAcquiring: 'forward' }],
    ['metadata', { ...good, metadata: 'http://localhost' }],
    ['drain', { ...good, drain: null }],
    ['drain', { ...good, drain: 5_000 }],
    ['drain.event', { ...good, drain: { event: 'finish', stopTimeout: 5_000 } }],
    ['drain.event', { ...good, drain: { event: { type: 'xstate.stop' }, stopTimeout: 5_000 } }],
    ['drain.stopTimeout', { ...good, drain: { event: { type: 'finish' } } }],
    ['drain.stopTimeout', { ...good, drain: { event: { type: 'finish' }, stopTimeout: 0 } }],
    ['drain.stopTimeout', { ...good, drain: { event: { type: 'finish' }, stopTimeout: Number.POSITIVE_INFINITY } }],
    ['onDropped', { ...good, onDropped: 'log' }],
  ]
  for (const [option, options] of wrong) {
    it(`${option} of ${JSON.stringify(options, (key, value) => (key === 'lease' ? undefined : value))} is rejected`, () => {
      const give = (): unknown => leaseGuarded(worker, options as LeaseGuardedOptions<typeof worker>)
      expect(give).toThrow(LeaseConfigurationError)
      expect(give).toThrow(`${option} must be`)
    })
  }

  it.each([undefined, {}, () => {}])('a worker that is not actor logic is rejected: %s', (wrong) => {
    const give = (): unknown => leaseGuarded(wrong as unknown as typeof worker, good)
    expect(give).toThrow(LeaseConfigurationError)
    expect(give).toThrow('worker must be actor logic')
  })

  it('an unbounded stash is allowed', () => {
    leaseGuarded(worker, { ...good, stash: { capacity: Number.POSITIVE_INFINITY } })
  })
})

describe('a lease factory', () => {
  it('makes one for each actor when it starts, given its input and itself', async () => {
    const leases: ScriptedLease[] = []
    const make = vi.fn(({ input }: { input: unknown; self: AnyActorRef }) => {
      const lease = new ScriptedLease(String(input))
      leases.push(lease)
      return lease
    })
    const recorder = new Recorder()
    const logic = leaseGuarded(recorder.worker, { lease: make, retryInterval: 1_000 })
    const actors = [createActor(logic, { input: 'a' }), createActor(logic, { input: 'b' })]
    expect(make).not.toHaveBeenCalled()
    for (const actor of actors) actor.start()
    expect(make.mock.calls.map(([{ input, self }]) => [input, self])).toEqual([
      ['a', actors[0]],
      ['b', actors[1]],
    ])
    leases[1]?.grant()
    await settle()
    expect(actors.map((actor) => actor.getSnapshot().value)).toEqual(['acquiringLease', 'active'])
    for (const actor of actors) actor.stop()
    expect(leases.map(({ freed }) => freed)).toEqual([0, 1])
  })

  it('that throws: the actor ends with that error', () => {
    const error = new Error('no such store')
    const logic = leaseGuarded(new Recorder().worker, {
      lease: () => {
        throw error
      },
      retryInterval: 1_000,
    })
    const actor = createActor(logic)
    const onError = vi.fn()
    actor.subscribe({ error: onError })
    actor.start()
    expect(onError.mock.calls).toEqual([[error]])
  })
})

describe('the options of an attempt', () => {
  it('can be spread into an object', () => {
    const lease = new ScriptedLease()
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease, retryInterval: 1_000 })).start()
    const { signal, onLost } = { ...lease.asked }
    expect(signal).toBeInstanceOf(AbortSignal)
    expect(onLost).toBeTypeOf('function')
    expect(lease.asked.signal).toBe(signal)
    actor.stop()
  })
})
