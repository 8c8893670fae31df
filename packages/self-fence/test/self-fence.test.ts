import {
  createLease,
  LeaseConfigurationError,
  LeaseProvider,
  type LeaseSettings,
  MemoryLeaseStore,
  memoryLease,
} from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AcquireCaller } from '../../core/src/engine/acquire-caller.js'
import { silentLogger } from '../../core/test/support/held-lease.js'
import { ONCE, setUpEngine } from '../../core/test/support/scripted-engine.js'

afterEach(() => void vi.restoreAllMocks())

describe('selfFence', () => {
  it.each([
    ['an unknown word', { selfFence: 'stop' as 'kill' }, 'selfFence must be one of exit, kill, not stop'],
    [
      'a ttl below a second',
      { selfFence: 'kill', heartbeatTimeout: 999 },
      'a heartbeatTimeout of at least 1000 ms, not 999',
    ],
    ['a clock of the user', { selfFence: 'kill', clock: new VirtualClock() }, "by the machine's clock: leave it out"],
  ] as const)('throws for %s', (_, options, message) => {
    const make = () => createLease(new MemoryLeaseStore(), 'job', options)
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow(message)
  })

  it('throws in the first process of a container, which no signal of its own can end', () => {
    const make = () => createLease(new MemoryLeaseStore(), 'job', { selfFence: 'kill' })
    vi.spyOn(process, 'pid', 'get').mockReturnValue(1)
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow('because its id is 1')
  })

  it.each(['kill', 'exit'])('can be given in a configuration: %s', async (word) => {
    const settings = await settingsOf({ 'self-fence': word })
    expect(settings.selfFence).toBe(word)
  })

  it.each(['', 'off', null, false])('is switched off in a configuration by %j', async (word) => {
    expect(await settingsOf({ 'self-fence': word })).not.toHaveProperty('selfFence')
  })

  it('ends the validity earlier', async () => {
    const lease = createLease(new MemoryLeaseStore(), 'job', { heartbeatTimeout: 120_000, selfFence: 'kill' })
    await lease.acquire()
    const validity = 120_000 * 0.99 - 25 - 7_000
    expect(lease.remaining).toBeLessThanOrEqual(validity)
    expect(lease.remaining).toBeGreaterThan(validity - 60_000)
    await lease.release()
  })
})

async function settingsOf(block: object): Promise<LeaseSettings> {
  await using provider = new LeaseProvider(
    { leasehold: { lease: { 'lease-class': 'memory', ...block } } },
    { memory: memoryLease },
    { logger: silentLogger },
  )
  return (await provider.getLease('job', 'leasehold.lease')).settings
}

describe('the work under a lost grant', () => {
  /** An engine whose lease was lost while work under it was in progress. */
  async function setUpLost() {
    let end = (): void => {}
    const work = new Promise<void>((resolve) => {
      end = resolve
    })
    const workUnder = vi.fn((_grantId: string) => work as Promise<void> | undefined)
    const fixture = setUpEngine({}, { workUnder })
    await fixture.hold()
    const { grantId } = fixture.store.last('acquire')
    fixture.engine.dispatch({ type: 'end', reason: 'closed' })
    await fixture.clock.settle()
    return { ...fixture, grantId, workUnder, end }
  }

  it('keeps the name from being freed until it has ended', async () => {
    const { sent, clock, workUnder, grantId, end } = await setUpLost()
    expect(workUnder).toHaveBeenCalledWith(grantId)
    expect(sent()).toEqual(['acquire'])
    await clock.advance(3_000)
    expect(sent()).toEqual(['acquire'])
    end()
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'release'])
  })

  it('keeps a new claim of the same lease waiting', async () => {
    const { engine, sent, store, clock, end } = await setUpLost()
    const caller = new AcquireCaller({}, ONCE, clock)
    engine.join(caller)
    await clock.settle()
    expect(sent()).toEqual(['acquire'])
    end()
    await clock.settle()
    store.last('release').answer('yes')
    await clock.settle()
    store.last('acquire').answer('yes')
    await expect(caller.promise).resolves.toBe(true)
  })
})
