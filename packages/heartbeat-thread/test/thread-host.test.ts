import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import { createTimeMemory } from '@leasehold/core/internal'
import { createDeadlineMemory } from '@leasehold/self-fence'
import { describe, expect, it, vi } from 'vitest'
import { LeaseSlots } from '../src/lease-slots.js'
import { ThreadHost } from '../src/thread-host.js'
import type { LeaseNews, LeaseSpec, Reply, StoreSpec } from '../src/thread-messages.js'

const STORE = 1
const LEASE = 2

const store: StoreSpec = {
  leaseClass: '@leasehold/core#memoryLease',
  file: undefined,
  path: 'leaseClass',
  options: {},
  leaseName: 'job',
  timeout: Number.POSITIVE_INFINITY,
}

const lease: LeaseSpec = {
  name: 'job',
  owner: 'me',
  timeouts: {},
  maxHold: Number.POSITIVE_INFINITY,
  childGrace: undefined,
  selfFence: undefined,
  unresponsiveAfter: 60_000,
}

/** The inside of a thread. The test is its user. */
function createHost() {
  const replies: Reply[] = []
  const memory = { time: createTimeMemory(), slots: new LeaseSlots().memory, deadlines: createDeadlineMemory() }
  const host = new ThreadHost(
    memory,
    (sent) => void replies.push(...sent),
    () => {},
  )
  return { host, replies }
}

/** The same, with an open store. */
async function setUp() {
  const { host, replies } = createHost()
  let serial = 0
  /** The answer to a request. */
  const read = async (): Promise<unknown> => {
    serial += 1
    const id = serial
    const call = { type: 'call', id, store: STORE, method: 'read', args: ['job', undefined], timeout: 60_000 } as const
    host.receive([call])
    await vi.waitUntil(() => replies.some((reply) => reply.type === 'answer' && reply.id === id))
    const answer = replies.find((reply) => reply.type === 'answer' && reply.id === id)
    return answer?.type === 'answer' ? answer.value : undefined
  }
  host.receive([{ type: 'open', id: 0, store: STORE, spec: store }])
  await vi.waitUntil(() => replies.length > 0, 60_000)
  const isGranted = (): boolean =>
    replies.some((reply) => reply.type === 'to-linked' && (reply.args[1] as LeaseNews).type === 'granted')
  return { host, read, isGranted }
}

describe('a heartbeat thread', () => {
  it('frees the grant of a lease that its user forgot while the news was on its way', async () => {
    const { host, read, isGranted } = await setUp()
    const claim = { id: 1, wait: undefined, wishes: {}, period: undefined }
    host.receive([
      { type: 'lease', lease: LEASE, store: STORE, slot: 0, spec: lease },
      { type: 'to-hosted', lease: LEASE, method: 'claim', args: [claim, undefined, undefined] },
    ])
    await vi.waitUntil(isGranted)
    expect(await read()).toMatchObject({ owner: 'me', state: 'leased' })
    host.receive([{ type: 'forget', lease: LEASE }])
    await vi.waitUntil(async () => ((await read()) as { state: string }).state !== 'leased')
  })

  it('closes a store that opens when it is not wanted any more', async (test) => {
    const { host, replies } = createHost()
    const channel = new BroadcastChannel(randomUUID())
    test.onTestFinished(() => channel.close())
    const said: unknown[] = []
    channel.onmessage = ({ data }: { data: unknown }) => void said.push(data)
    const leaseClass = `${new URL('support/gated-lease.ts', import.meta.url).pathname}#gatedLease`
    const spec = { ...store, leaseClass, options: { channel: channel.name } }
    host.receive([{ type: 'open', id: 1, store: STORE, spec }])
    await vi.waitUntil(() => said.at(-1) === 'asked', 60_000)
    host.receive([{ type: 'close', id: 2, store: STORE }])
    channel.postMessage('open')
    await vi.waitUntil(() => said.at(-1) === 'closed')
    await vi.waitUntil(() => replies.some((reply) => reply.type === 'error' && reply.id === 1))
  })
})
