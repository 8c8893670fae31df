import { MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, seededFaults, simulate, TestLease, VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['FaultyStore', 'plans', 'plan', (o: object) => new FaultyStore(new MemoryLeaseStore(), o)],
    ['seededFaults', 'longest-delay', 'longestDelay', (o: object) => seededFaults(1, o)],
    ['TestLease', 'anwser', 'answer', (o: object) => new TestLease(o)],
    ['VirtualClock', 'scew', 'skew', (o: object) => new VirtualClock(o)],
    ['VirtualTime', 'isbusy', 'isBusy', (o: object) => new VirtualTime(o)],
    ['simulate', 'node', 'nodes', (o: object) => simulate({ seed: 1, ...o })],
    ['timeouts', 'heartBeatTimeout', 'heartbeatTimeout', (o: object) => simulate({ seed: 1, timeouts: o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
