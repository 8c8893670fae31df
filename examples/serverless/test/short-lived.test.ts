import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { casSubject, markedCasSubject, timedCasSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { type StoreSubject, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { sendReminders } from '../src/send-reminders.js'
import { startOnce } from '../src/start-once.js'

const TTL = 60_000

describe('an invocation', () => {
  it('sends each reminder with its token, and leaves the name free', async () => {
    const store = new MemoryLeaseStore()
    const sent: [string, bigint][] = []
    const reminders = {
      due: async () => ['anna', 'berta'],
      send: async (name: string, token: bigint) => void sent.push([name, token]),
    }
    expect(await sendReminders(store, reminders)).toBe('sent 2')
    expect(await sendReminders(store, reminders)).toBe('sent 2')
    expect(sent.map(([name]) => name)).toEqual(['anna', 'berta', 'anna', 'berta'])
    expect(sent[2]?.[1]).toBeGreaterThan(sent[0]?.[1] ?? 0n)
  })

  it('does nothing while another one is at work', async () => {
    const store = new MemoryLeaseStore()
    await createLease(store, 'reminders').acquire()
    const none = { due: () => Promise.reject(new Error('asked')), send: () => Promise.reject(new Error('sent')) }
    expect(await sendReminders(store, none)).toBe('another invocation is at work')
  })
})

describe('after a process that has crashed with the lease, a process that lives for a second', () => {
  /** What each of ten short processes gets, one after the other, the first one a second after the ttl. */
  async function tries(subject: StoreSubject): Promise<boolean[]> {
    const clock = new VirtualClock()
    const backend = await subject.start(clock)
    const options = { heartbeatTimeout: TTL, strategy: 'manual', clock } as const
    // Written by the store itself: no lease object of this test goes on after the crash.
    const crashed = await backend.open(clock)
    const request = { name: 'reminders', owner: 'crashed', grantId: 'crashed', ttl: TTL }
    expect(await crashed.acquire(request, new AbortableCall())).toMatchObject({ granted: true })
    await clock.advance(TTL + 1_000)
    const granted: boolean[] = []
    for (let count = 0; count < 10; count += 1) {
      const lease = createLease(await backend.open(clock), 'reminders', options)
      granted.push(await lease.acquire())
      await lease.release()
      await clock.advance(TTL)
    }
    return granted
  }

  it('acquires it where the store judges by a clock of its own', async () => {
    expect(await tries(memorySubject)).toEqual(Array(10).fill(true))
  })

  it('acquires it where the store times its writes, if two seconds more than the ttl are over', async () => {
    expect(await tries(timedCasSubject)).toEqual([false, ...Array(9).fill(true)])
  })

  it('acquires it where the store keeps marks, when a challenger has looked more than a ttl before', async () => {
    expect(await tries(markedCasSubject)).toEqual([false, false, ...Array(8).fill(true)])
  })

  it('never acquires it where each challenger has to observe the record for a ttl', async () => {
    expect(await tries(casSubject)).toEqual(Array(10).fill(false))
  })
})

it('register() that is called three times does its work once for each deployment', async () => {
  const store = new MemoryLeaseStore()
  const starts: string[] = []
  const register = (deployment: string) => startOnce(store, deployment, async () => void starts.push(deployment))
  await Promise.all([register('v1'), register('v1'), register('v1')])
  await register('v1')
  await register('v2')
  expect(starts).toEqual(['v1', 'v2'])
})
