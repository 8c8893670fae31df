import { type LeaseRecord, MemoryLeaseStore } from '@leasehold/core'
import { createTimeMemory, SharedTime } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it, vi } from 'vitest'
import { HostedLease, type LeaseHost } from '../src/hosted-lease.js'
import { LeaseSlots } from '../src/lease-slots.js'
import { Outbox } from '../src/outbox.js'
import type { LeaseNews, LeaseSpec, Reply } from '../src/thread-messages.js'

const SLOT = 0

/** A lease in a thread whose user is the test: it sends no message by itself. */
function setUp(given: Partial<LeaseSpec> = {}) {
  const replies: Reply[] = []
  const slots = new LeaseSlots()
  const cleared = vi.fn()
  const host: LeaseHost = {
    time: new SharedTime(createTimeMemory(), 'writer'),
    slots,
    keeper: { start: () => undefined, add: () => ({ place: 0, set() {}, clear: cleared }) },
    outbox: new Outbox(
      (sent) => void replies.push(...sent),
      () => {},
    ),
    nextNumber: () => 1,
  }
  const spec: LeaseSpec = {
    name: 'job',
    owner: 'me',
    timeouts: {},
    maxHold: Number.POSITIVE_INFINITY,
    childGrace: undefined,
    selfFence: undefined,
    unresponsiveAfter: 60_000,
    ...given,
  }
  const store = new MemoryLeaseStore()
  const lease = new HostedLease({ type: 'lease', lease: 1, store: 1, slot: slots.take(), spec }, store, host)
  const news = (): string[] =>
    replies.flatMap((reply) => (reply.type === 'to-linked' && reply.method === 'onNews' ? [newsOf(reply.args)] : []))
  return { lease, slots, cleared, news, record: () => store.read('job', new AbortableCall()) }
}

function newsOf([_number, news]: readonly unknown[]): string {
  return (news as LeaseNews).type
}

async function setUpGranted(given: Partial<LeaseSpec> = {}) {
  const fixture = setUp(given)
  fixture.lease.claim({ id: 1, wait: undefined, wishes: {}, period: undefined }, undefined, undefined)
  await vi.waitUntil(() => fixture.news().includes('granted'))
  return fixture
}

const untilFree = (record: () => Promise<LeaseRecord | undefined>): Promise<boolean> =>
  vi.waitUntil(async () => (await record())?.state !== 'leased')

describe('a lease in the heartbeat thread', () => {
  it('releases a grant that its user refuses', async () => {
    const { lease, slots, record } = await setUpGranted()
    expect(slots.read(SLOT, 1)).toBeGreaterThan(0)
    lease.unwanted(1)
    expect(slots.read(SLOT, 1)).toBe(Number.NEGATIVE_INFINITY)
    await untilFree(record)
  })

  it('is not valid for its user from the instant of its loss', async () => {
    const { lease, slots } = await setUpGranted()
    lease.ask(1, { type: 'end', reason: 'closed' })
    expect(slots.read(SLOT, 1)).toBe(Number.NEGATIVE_INFINITY)
  })

  it('ends no process for a grant that was lost before its user refused it', async () => {
    const { lease, cleared, news, record } = await setUpGranted({ selfFence: 'exit' })
    lease.ask(1, { type: 'end', reason: 'closed' })
    await vi.waitUntil(() => news().includes('lost'))
    expect(cleared).not.toHaveBeenCalled()
    lease.unwanted(1)
    await vi.waitUntil(() => cleared.mock.calls.length > 0)
    await untilFree(record)
  })

  it('waits for the work under a self-fenced grant that was lost, also when its user asks for a release', async () => {
    const { lease, cleared, news, record } = await setUpGranted({ selfFence: 'exit' })
    lease.ask(1, { type: 'end', reason: 'closed' })
    await vi.waitUntil(() => news().includes('lost'))
    const abandoned = lease.abandon()
    await new Promise((resolve) => setImmediate(resolve))
    expect(cleared).not.toHaveBeenCalled()
    expect(await record()).toMatchObject({ state: 'leased' })
    lease.acknowledged(1)
    await abandoned
    await vi.waitUntil(() => cleared.mock.calls.length > 0)
    await untilFree(record)
  })
})
