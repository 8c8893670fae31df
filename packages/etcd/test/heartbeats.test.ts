import { EtcdLeaseStore } from '@leasehold/etcd'
import { claimOf, never } from '@leasehold/testing/job-claims'
import { describe, expect, it } from 'vitest'
import { EtcdClient } from '../src/client/etcd-client.js'

/** The raft terms of the answers, the first one first; the last one stays. */
interface Terms {
  readonly keepAlive: number[]
  readonly txn: number[]
}

/** A client of a cluster that says yes to everything, and elects leaders meanwhile. */
class ElectingClient extends EtcdClient {
  readonly sent: string[] = []
  readonly #terms: Terms

  constructor(terms: Terms) {
    super()
    this.#terms = terms
  }

  override async request(method: string): Promise<never> {
    this.sent.push(method)
    const terms = { Txn: this.#terms.txn, LeaseKeepAlive: this.#terms.keepAlive }[method] ?? [1]
    const header = { revision: '7', raftTerm: next(terms) }
    return { header, ID: '5', TTL: '10', succeeded: true, responses: [] } as never
  }
}

function next(terms: number[]): string {
  const [first = 0] = terms
  if (terms.length > 1) terms.shift()
  return String(first)
}

async function renewed(keepAlive: number[], txn: number[]) {
  const client = new ElectingClient({ keepAlive, txn: [1, ...txn] })
  const store = new EtcdLeaseStore(client)
  const outcome = await store.acquire(claimOf('grant'), never)
  if (!outcome.granted) throw new Error('refused')
  client.sent.length = 0
  return { outcome: await store.renew(outcome.grant, never).catch((error: Error) => error.name), sent: client.sent }
}

describe('a heartbeat', () => {
  it('is a keep-alive, and a look at the key after it', async () => {
    expect(await renewed([3], [3])).toEqual({ outcome: { renewed: true }, sent: ['LeaseKeepAlive', 'Txn'] })
  })

  it('counts if a later leader has answered the keep-alive', async () => {
    expect(await renewed([4], [3])).toEqual({ outcome: { renewed: true }, sent: ['LeaseKeepAlive', 'Txn'] })
  })

  it('is repeated if the look comes from a later leader than the keep-alive, which may have been deposed', async () => {
    expect(await renewed([3, 4], [4])).toEqual({
      outcome: { renewed: true },
      sent: ['LeaseKeepAlive', 'Txn', 'LeaseKeepAlive', 'Txn'],
    })
  })

  it('is unknown if the keep-alives are always those of an earlier leader', async () => {
    expect((await renewed([3], [4])).outcome).toBe('LeaseUnavailableError')
  })
})
