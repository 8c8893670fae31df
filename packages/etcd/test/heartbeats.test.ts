import { EtcdLeaseStore } from '@leasehold/etcd'
import { claimOf, never } from '@leasehold/testing/job-claims'
import { describe, expect, it } from 'vitest'
import type { RequestOp } from '../src/client/api.js'
import { EtcdClient } from '../src/client/etcd-client.js'

/** The raft terms of the answers, the first one first; the last one stays. */
interface Terms {
  readonly keepAlive: number[]
  readonly txn: number[]
}

interface Kept {
  readonly key: Buffer
  readonly value: Buffer
  readonly lease?: string | null | undefined
}

/** A client of a cluster that keeps what is written, says yes to everything, and elects leaders meanwhile. */
class ElectingClient extends EtcdClient {
  readonly sent: string[] = []
  readonly kept = new Map<string, Kept>()
  readonly #terms: Terms
  #leases = 0

  constructor(terms: Terms) {
    super()
    this.#terms = terms
  }

  override async request(method: string, request: object): Promise<never> {
    this.sent.push(method)
    if (method === 'LeaseGrant') this.#leases += 1
    const terms = { Txn: this.#terms.txn, LeaseKeepAlive: this.#terms.keepAlive }[method] ?? [1]
    const header = { revision: '7', raftTerm: next(terms) }
    const { success = [] } = request as { readonly success?: readonly RequestOp[] }
    for (const { requestPut: put } of success) if (put) this.kept.set(String(put.key), put)
    const responses = success.map(({ requestRange: range }) => ({ responseRange: range && { kvs: this.#in(range) } }))
    return { header, ID: String(this.#leases), TTL: '10', succeeded: true, responses } as never
  }

  #in({ key, rangeEnd }: NonNullable<RequestOp['requestRange']>): object[] {
    const revisions = { createRevision: '7', modRevision: '7' }
    const isIn = (kept: Kept) =>
      rangeEnd ? kept.key.compare(key) >= 0 && kept.key.compare(rangeEnd) < 0 : kept.key.equals(key)
    return [...this.kept.values()].filter(isIn).map((kept) => ({ ...kept, ...revisions }))
  }
}

function next(terms: number[]): string {
  const [first = 0] = terms
  if (terms.length > 1) terms.shift()
  return String(first)
}

/** The terms are those of the heartbeat; the grant was written in term 3. */
async function renewed(keepAlive: number[], txn: number[]) {
  const client = new ElectingClient({ keepAlive, txn: [3, 3, ...txn] })
  const store = new EtcdLeaseStore(client)
  const outcome = await store.acquire(claimOf('grant'), never)
  if (!outcome.granted) throw new Error('refused')
  client.sent.length = 0
  const renewal = await store.renew(outcome.grant, never).catch((error: Error) => error.name)
  const leases = [...client.kept.values()].flatMap(({ lease }) => lease ?? [])
  return { outcome: renewal, sent: client.sent, leases }
}

const beat = ['LeaseKeepAlive', 'Txn']
/** The name is read, a server lease is made after a look at the term, and the key is attached to it. */
const move = ['Txn', 'Txn', 'LeaseGrant', 'Txn']

describe('a heartbeat', () => {
  it('is a keep-alive, and a look at the key after it', async () => {
    expect(await renewed([3], [3])).toEqual({ outcome: { renewed: true }, sent: beat, leases: ['1'] })
  })

  it('moves to another lease of the server if a later leader has answered: the earlier one may revoke the old lease', async () => {
    expect(await renewed([4], [4])).toEqual({
      outcome: { renewed: true },
      sent: ['LeaseKeepAlive', ...move],
      leases: ['2'],
    })
  })

  it('is repeated if the look comes from a later leader than the keep-alive, which may have been deposed', async () => {
    expect(await renewed([3, 4], [4])).toEqual({
      outcome: { renewed: true },
      sent: [...beat, 'LeaseKeepAlive', ...move],
      leases: ['2'],
    })
  })

  it('counts on a lease that was granted after the look at the term, if leaders were elected meanwhile', async () => {
    expect(await renewed([4], [4, 4, 5])).toEqual({
      outcome: { renewed: true },
      sent: ['LeaseKeepAlive', ...move],
      leases: ['2'],
    })
  })

  it('is unknown if the keep-alives are always those of an earlier leader', async () => {
    expect((await renewed([3], [4])).outcome).toBe('LeaseUnavailableError')
  })
})
